import { createServer } from "node:net";

/**
 * The wanted port of 127.0.0.1 if it is free, else another one. Another process may take it before
 * it is used; then its user fails and the caller tries again.
 */
export function freePort(wanted = 0): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer().once("error", (cause) => {
      if (wanted === 0) fail(cause);
      else done(freePort());
    });
    server.listen(wanted, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => done(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });
}
