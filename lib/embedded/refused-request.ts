/**
 * Answers what Node's HTTP parser refuses, so that this is a problem document, too. Such a request
 * never reaches the router; its path is unknown.
 */
import type { ApiResponse } from "../api/http.ts";
import { problemResponse } from "../api/problem.ts";
import { EngineError, type ErrorCode } from "../ports/engine-error.ts";
import { MAX_HEADER_BYTES } from "./http-server.ts";

/** The response to a request that could not be parsed, by the error of the parser. */
export function refusedRequest(error: Error): ApiResponse {
  const code = "code" in error ? String(error.code) : "";
  const meaning = meanings[code] ?? notHttp(error, code);
  const refused = new EngineError(meaning.code, { ...meaning, where: "connection" });
  return problemResponse(refused, { path: "" });
}

type Meaning = Readonly<{ code: ErrorCode; happened: string; fix: string }>;

const meanings: Readonly<Record<string, Meaning>> = {
  HPE_HEADER_OVERFLOW: {
    code: "request/header-too-large",
    happened:
      "The URL and the headers of the request are too large together, or the headers too many",
    fix: `Send at most ${MAX_HEADER_BYTES} bytes of them, and at most 1000 headers.`,
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    code: "request/body-too-large",
    happened: "The extensions of the body's chunks are too large",
    fix: "Send the body with a Content-Length, or in chunks without extensions.",
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: "request/timeout",
    happened: "The request did not arrive completely in time",
    fix: "Send it again: an incomplete request has no effect.",
  },
};

function notHttp({ message }: Error, code: string): Meaning {
  // Node's parser knows protocols that are served nowhere here.
  const reason = message.replace(/^Parse Error: /, "").replace(/HTTP\/, .*/, "HTTP/");
  const isMethod = code === "HPE_INVALID_METHOD";
  return {
    code: "request/invalid",
    happened: `The request is not valid HTTP/1.1: ${reason}`,
    fix: isMethod
      ? "Use a method that GET /v1/openapi.json lists for the path, in capital letters."
      : "Check the request line, the headers and how the body is framed.",
  };
}
