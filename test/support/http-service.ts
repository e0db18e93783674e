import { readFileSync } from "node:fs";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { createServer as createSecureServer } from "node:https";
import { onTestFinished } from "vitest";

/** A request that reached a service. */
export type Received = Readonly<{
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** The server name of a TLS connection. */
  servername?: string;
}>;

export type Reply = Readonly<{
  status?: number;
  headers?: Readonly<Record<string, string | readonly string[]>>;
  body?: string | Uint8Array;
}>;

export type Service = Readonly<{ port: number; received: readonly Received[] }>;

/** A response, one that depends on the request, or a function that uses the connection itself. */
export type Behaviour =
  | Reply
  | ((request: Received) => Reply)
  | Readonly<{ raw: (request: IncomingMessage, response: ServerResponse) => void }>;

/** Certificates of the services that speak TLS: for service.test and 127.0.0.1. */
export const TEST_CA = fixture("service-cert.pem");

/** A service on 127.0.0.1 that ends with the test. */
export async function aService(
  behaviour: Behaviour,
  { secure = false }: Readonly<{ secure?: boolean }> = {},
): Promise<Service> {
  const received: Received[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if ("raw" in behaviour) {
      behaviour.raw(request, response);
      return;
    }
    const chunks: Uint8Array[] = [];
    request.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    request.on("end", () => {
      const seen = seenIn(request, Buffer.concat(chunks).toString());
      received.push(seen);
      const reply = typeof behaviour === "function" ? behaviour(seen) : behaviour;
      for (const [name, value] of Object.entries(reply.headers ?? {})) {
        response.setHeader(name, value);
      }
      response.writeHead(reply.status ?? 200);
      response.end(reply.body);
    });
  };
  const server = secure
    ? createSecureServer({ key: fixture("service-key.pem"), cert: TEST_CA }, answer)
    : createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { port, received };
}

function seenIn(request: IncomingMessage, body: string): Received {
  const { method = "", url: path = "", headers, socket } = request;
  const servername: unknown = Reflect.get(socket, "servername");
  return {
    method,
    path,
    headers,
    body,
    ...(typeof servername === "string" && { servername }),
  };
}

function fixture(name: string): string {
  return readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), "utf8");
}
