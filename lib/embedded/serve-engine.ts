import type { ApiRequest } from "../api/http.ts";
import { MAX_ANY_BODY_BYTES } from "../api/limits.ts";
import type { FailedRequest } from "../api/operation.ts";
import { problemResponse } from "../api/problem.ts";
import { createApi } from "../api/router.ts";
import { VERSION } from "../api/version.ts";
import { EngineError } from "../ports/engine-error.ts";
import type { EmbeddedEngine } from "./embedded-engine.ts";
import { type HttpServer, serveHttp } from "./http-server.ts";
import { type KnownOptions, refuseUnknownOptions } from "./known-options.ts";
import { refusedRequest } from "./refused-request.ts";

export type ServeOptions = Readonly<{
  /** 127.0.0.1 by default; any other host needs a token. */
  host?: string;
  /** 7373 by default; 0 picks a free one. */
  port?: number;
  /** What every call must carry as `Authorization: Bearer …`. */
  token?: string;
  /** Takes workflows in code over HTTP: whoever can reach the server may deploy them. False by default. */
  acceptCode?: boolean;
  /** Called with every response of 500 or more; its id is in the response. */
  onUnexpected?: (id: string, error: unknown, about: Omit<FailedRequest, "error">) => void;
}>;

const SERVE_OPTIONS: KnownOptions<ServeOptions> = {
  host: true,
  port: true,
  token: true,
  acceptCode: true,
  onUnexpected: true,
};

/** Serves the HTTP API of an open engine. */
export function serveEngine(
  embedded: EmbeddedEngine,
  options: ServeOptions = {},
): Promise<HttpServer> {
  refuseUnknownOptions("serveEngine", options, SERVE_OPTIONS);
  const { host = "127.0.0.1", port = 7373, token, acceptCode, onUnexpected } = options;
  if (token === undefined && !isLoopback(host)) throw needsToken(host);
  let unexpected = 0;
  const api = createApi({
    engine: embedded.engine,
    extras: {
      ...(embedded.isVirtual && { clock: { advance: embedded.advanceClock } }),
      checkRunning: embedded.checkRunning,
      waitForEnd: embedded.waitForEnd,
      reportFailure: ({ error, ...about }) => {
        unexpected += 1;
        onUnexpected?.(`e${unexpected}`, error, about);
        return `e${unexpected}`;
      },
    },
    settings: {
      version: VERSION,
      ...(token !== undefined && { token }),
      ...(acceptCode !== undefined && { acceptsCode: acceptCode }),
    },
  });
  const answer = (request: ApiRequest) => {
    const isForeign = token === undefined && !isFromHere(request);
    return isForeign ? Promise.resolve(problemResponse(foreign(), request)) : api(request);
  };
  const served = serveHttp({
    answer,
    refuse: refusedRequest,
    host,
    port,
    maxBodyBytes: MAX_ANY_BODY_BYTES,
  });
  embedded.beginAfter(served);
  return served;
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);

/** Without a token, web pages of other sites must not reach the engine through the user's browser. */
function isFromHere({ headers }: ApiRequest): boolean {
  const { host, origin } = headers;
  const named = [host === undefined ? undefined : `http://${host}`, origin];
  return named.every((url) => url === undefined || isLoopbackUrl(url));
}

function isLoopbackUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  return isLoopback(new URL(url).hostname.replace(/^\[(.*)\]$/, "$1"));
}

function foreign(): EngineError {
  return new EngineError("request/foreign-origin", {
    happened: "The request is not addressed to this machine, or comes from another site",
    where: "Host, Origin",
    fix: "Call the server as 127.0.0.1 or localhost, or start it with a token.",
  });
}

function needsToken(host: string): EngineError {
  return new EngineError("engine/misconfigured", {
    happened: "The server would be open to everyone who can reach this machine",
    where: `host ${host}`,
    fix: "Give it a token (--token or FERMATA_TOKEN), or listen on 127.0.0.1.",
  });
}
