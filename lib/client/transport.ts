import type { Problem } from "../api/views.ts";
import { ApiError } from "./api-error.ts";

/** One call over HTTP; fields that are undefined are not sent. */
export type Call = Readonly<{
  method: "GET" | "POST" | "PUT" | "DELETE";
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
  fetch?: typeof globalThis.fetch;
}>;

/** Sends calls; throws an ApiError for every answer that is not a good one. */
export function createTransport({ baseUrl, token, fetch = globalThis.fetch }: TransportOptions) {
  const base = baseUrl.replace(/\/+$/, "");
  return async (call: Call): Promise<Response> => {
    const { text, type } = bodyOf(call);
    const response = await fetch(`${base}${call.path}${queryOf(call)}`, {
      method: call.method,
      headers: {
        ...(type !== undefined && { "content-type": type }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(call.idempotencyKey !== undefined && { "idempotency-key": call.idempotencyKey }),
      },
      ...(text !== undefined && { body: text }),
    });
    if (response.ok) return response;
    throw await parseError(response);
  };
}

/** Makes one part of a path of a name, whatever it holds. */
export function segment(name: string): string {
  return encodeURIComponent(name);
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
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) given.set(name, String(value));
  }
  return given.size === 0 ? "" : `?${given}`;
}

async function parseError(response: Response): Promise<ApiError> {
  const text = await response.text();
  const isProblem = response.headers.get("content-type")?.startsWith("application/problem+json");
  if (isProblem) return new ApiError(response.status, JSON.parse(text) as Problem);
  const { status, statusText, url } = response;
  return new ApiError(
    status,
    `${url} answered ${status} ${statusText}, which is no answer of this engine. Check the address.`,
  );
}
