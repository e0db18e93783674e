import type { Problem } from "../api/views.ts";
import { ApiError } from "./api-error.ts";

/** One call over HTTP; fields that are undefined are not sent. */
export type Call = Readonly<{
  method: "GET" | "POST" | "DELETE";
  path: string;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  json?: unknown;
  source?: Readonly<{ text: string | Uint8Array; type: string }>;
  idempotencyKey?: string | undefined;
}>;

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

function bodyOf({ source, json }: Call): { text?: BodyInit; type?: string } {
  if (source !== undefined) return { text: parseBody(source.text), type: source.type };
  if (json === undefined) return {};
  return { text: JSON.stringify(json), type: "application/json" };
}

/** Fetch wants bytes of an ArrayBuffer of their own, which types of Uint8Array do not promise. */
function parseBody(text: string | Uint8Array): BodyInit {
  return typeof text === "string" ? text : new Uint8Array(text);
}

function queryOf({ query = {} }: Call): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return "";
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
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
