/** A request in a form independent of the HTTP server, so that every host uses the same router. */
export type ApiRequest = Readonly<{
  /** The request id of the gateway, where it has one. */
  id?: string;
  method: string;
  /** As it was sent, percent-encoded: `/v1/definitions/a%20b`. */
  path: string;
  /** The query string of the URL without its question mark, as it was sent; empty if there is none. */
  query: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  body: Uint8Array;
}>;

/** The response; text is sent as UTF-8. Header names are in lower case. */
export type ApiResponse = Readonly<{
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array;
}>;

/** Of JSON responses. JSON is UTF-8 by its own standard, so there is no charset. */
export const JSON_TYPE = "application/json";
/** Of errors, as RFC 9457 names it. */
export const PROBLEM_TYPE = "application/problem+json";

/** The media type in lower case and its charset, of a Content-Type header. */
export function parseContentType(
  header: string | undefined,
): Readonly<{ type: string; charset?: string }> {
  const [type = "", ...parameters] = (header ?? "").split(";").map((part) => part.trim());
  const charset = parameters
    .map((parameter) => /^charset\s*=\s*"?([^"]*)"?$/i.exec(parameter)?.[1])
    .find((value) => value !== undefined);
  const named = { type: type.toLowerCase() };
  return charset === undefined ? named : { ...named, charset: charset.toLowerCase() };
}
