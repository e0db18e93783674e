import { createApi } from "../api/router.ts";
import { MAX_SOURCE_BYTES } from "../definition/limits.ts";
import { EngineError } from "../ports/engine-error.ts";
import { type HttpServer, serveHttp } from "./http-server.ts";
import type { EmbeddedEngine } from "./library-door.ts";
import { VERSION } from "./version.ts";

export type ServeOptions = Readonly<{
  /** 127.0.0.1 unless said; anywhere else needs a token. */
  host?: string;
  /** 7373 unless said; 0 picks a free one. */
  port?: number;
  /** What every call must carry as `Authorization: Bearer …`. */
  token?: string;
  /** Hears of errors that are ours to mend; their id is in the answer. */
  onUnexpected?: (id: string, error: unknown) => void;
}>;

/** Serves the HTTP API of an open engine; a thin door on the library's. */
export function serveEngine(
  embedded: EmbeddedEngine,
  { host = "127.0.0.1", port = 7373, token, onUnexpected }: ServeOptions = {},
): Promise<HttpServer> {
  if (token === undefined && !isLoopback(host)) throw needsToken(host);
  let unexpected = 0;
  const answer = createApi({
    engine: embedded.engine,
    extras: {
      ...(embedded.isVirtual && { clock: { advance: embedded.advanceClock } }),
      waitForEnd: embedded.waitForEnd,
      reportUnexpected: (error) => {
        unexpected += 1;
        onUnexpected?.(`e${unexpected}`, error);
        return `e${unexpected}`;
      },
    },
    settings: { version: VERSION, ...(token !== undefined && { token }) },
  });
  // JSON may carry a source with every character escaped.
  return serveHttp({ answer, host, port, maxBodyBytes: 6 * MAX_SOURCE_BYTES });
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);

function needsToken(host: string): EngineError {
  return new EngineError("engine/misconfigured", {
    happened: "The server would be open to everyone who can reach this machine",
    where: `host ${host}`,
    fix: "Give it a token (--token or FERMATA_TOKEN), or listen on 127.0.0.1.",
    retryable: false,
  });
}
