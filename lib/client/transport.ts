import type { Problem } from "../api/views.ts";
import { ApiError } from "./api-error.ts";
import { explainGateway, type StrangeAnswer } from "./gateway-answer.ts";

/** One call over HTTP; fields that are undefined are not sent. */
export type Call = Readonly<{
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  json?: unknown;
  source?: Readonly<{ text: string | Uint8Array; type: string }>;
  idempotencyKey?: string | undefined;
}>;

/** Which engine to talk to, and how. */
export type TransportOptions = Readonly<{
  /** Such as `http://127.0.0.1:7373`. */
  baseUrl: string;
  token?: string;
  /** Authenticates otherwise than by a token, as `awsSigner` of `fermata-engine/client/aws` does. */
  sign?: Sign;
  fetch?: typeof globalThis.fetch;
}>;

/** Returns the headers that authenticate a request; they are sent in addition to its own. */
export type Sign = (request: UnsignedRequest) => Promise<Readonly<Record<string, string>>>;

/** A request as it will be sent, byte by byte. */
export type UnsignedRequest = Readonly<{
  method: Call["method"];
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
}>;

/** Sends calls; throws an ApiError for every error response. */
export function createTransport(options: TransportOptions) {
  const { baseUrl, token, sign, fetch = globalThis.fetch } = options;
  const base = baseUrl.replace(/\/+$/, "");
  return async (call: Call): Promise<Response> => {
    const { text, type } = bodyOf(call);
    const method = call.method;
    const url = `${base}${call.path}${queryOf(call)}`;
    const headers = {
      ...(type !== undefined && { "content-type": type }),
      ...(call.idempotencyKey !== undefined && { "idempotency-key": call.idempotencyKey }),
    };
    const body = text === undefined ? {} : { body: text };
    const proof = sign
      ? await sign({ method, url, headers, ...body })
      : token !== undefined && { authorization: `Bearer ${token}` };
    const response = await fetch(url, { method, headers: { ...headers, ...proof }, ...body });
    if (response.ok) return response;
    throw await parseError(response, {
      url,
      proof: sign ? "signature" : token === undefined ? "none" : "token",
    });
  };
}

/**
 * Escapes a name as one segment of a path. All but letters, digits and `-._~` is escaped: signer
 * and verifier of a request need not agree on anything else.
 */
export function segment(name: string): string {
  return encodeURIComponent(name).replaceAll(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function bodyOf({ source, json }: Call): Readonly<{
  text?: string | Uint8Array<ArrayBuffer>;
  type?: string;
}> {
  if (source !== undefined) {
    const { text, type } = source;
    // A copy, because fetch wants bytes of an ArrayBuffer, which not every Uint8Array has.
    return { text: typeof text === "string" ? text : new Uint8Array(text), type };
  }
  if (json === undefined) return {};
  return { text: JSON.stringify(json), type: "application/json" };
}

function queryOf({ query = {} }: Call): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${segment(name)}=${segment(String(value))}`],
  );
  return given.length === 0 ? "" : `?${given.join("&")}`;
}

async function parseError(
  response: Response,
  { url, proof }: Pick<StrangeAnswer, "url" | "proof">,
): Promise<ApiError> {
  const text = await response.text();
  const isProblem = response.headers.get("content-type")?.startsWith("application/problem+json");
  if (isProblem) return new ApiError(response.status, JSON.parse(text) as Problem);
  const { status, statusText } = response;
  const date = response.headers.get("date") ?? undefined;
  const explained = explainGateway({ url, status, text, date, proof, now: Date.now() });
  if (explained !== undefined) return new ApiError(status, explained, "client/gateway-refused");
  return new ApiError(
    status,
    `${url} answered ${status} ${statusText}, which is no answer of this engine. Check the address.`,
  );
}
