import type { Json } from "../../../definition/json.ts";
import type { HttpAnswer } from "../../../ports/http.ts";
import { MAX_RESULT_DEPTH } from "../task-result.ts";
import type { Mask } from "./mask.ts";

/** A body as it is sent, and its content type. */
export type Sent = Readonly<{ bytes: Uint8Array; type: string }>;

/**
 * Encodes a body: a text as it is, anything else as JSON, or as a form where the content type says
 * so. Undefined where it cannot be a form.
 */
export function writeBody(body: Json, declared: string | undefined): Sent | undefined {
  if (typeof body === "string") return sent(body, declared ?? "text/plain; charset=utf-8");
  if (essence(declared) !== FORM) {
    return sent(JSON.stringify(body), declared ?? "application/json");
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) return undefined;
  const entries = Object.entries(body).filter(([, value]) => value !== null);
  if (entries.some(([, value]) => typeof value === "object")) return undefined;
  const pairs = entries.map(([name, value]): [string, string] => [name, String(value)]);
  return sent(new URLSearchParams(pairs).toString(), declared ?? FORM);
}

const FORM = "application/x-www-form-urlencoded";

const sent = (text: string, type: string): Sent => ({ bytes: Buffer.from(text), type });

/**
 * Decodes a body: JSON or text by its content type, and everything else as base64. Invalid JSON, or
 * JSON that is nested too deeply to be kept, stays text: the service has done its work, and the
 * process sees the response. An empty body is null.
 */
export function readBody({ headers, body }: HttpAnswer, mask: Mask): Json {
  if (body.byteLength === 0) return null;
  const type = headers["content-type"];
  if (!isText(essence(type))) return Buffer.from(mask.bytes(body)).toString("base64");
  const text = decoded(body, type);
  return isJsonType(essence(type)) ? parsed(text, mask) : mask.text(text);
}

function essence(type = ""): string {
  return (type.split(";")[0] ?? "").trim().toLowerCase();
}

const isJsonType = (type: string): boolean => /^[^/]+\/(json|[^/]+\+json)$/.test(type);

/** No content type counts as text. */
const isText = (type: string): boolean =>
  type === "" ||
  type.startsWith("text/") ||
  isJsonType(type) ||
  /^application\/(xml|[^/]+\+xml|javascript|yaml|x-yaml|x-ndjson|x-www-form-urlencoded|graphql|sql)$/.test(
    type,
  );

function decoded(bytes: Uint8Array, type = ""): string {
  const charset = /;\s*charset="?([^\s";]+)/i.exec(type)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

function parsed(text: string, mask: Mask): Json {
  try {
    const value = parseJson(text);
    return isDeeper(value, MAX_RESULT_DEPTH - 1) ? mask.text(text) : mask.value(value);
  } catch {
    return mask.text(text);
  }
}

/** Whether lists and objects are nested more deeply than this. */
function isDeeper(value: Json, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

function parseJson(text: string): Json {
  return JSON.parse(text) as Json;
}
