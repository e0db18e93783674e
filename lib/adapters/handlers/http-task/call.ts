/** Parses the inputs of an HTTP task. All problems are found at once. */
import type { Json, Variables } from "../../../definition/json.ts";
import {
  DEFAULT_HTTP_TIMEOUT_MS,
  MAX_HTTP_HEADER_LENGTH,
  MAX_HTTP_HEADERS,
  MAX_HTTP_TIMEOUT_MS,
  MAX_URL_LENGTH,
} from "../../../definition/limits.ts";
import { quoted } from "../../../definition/parsed.ts";
import { parseDuration } from "../../../definition/time/duration.ts";

/** A call as modelled; secrets in it are still references. */
export type Call = Readonly<{
  method: string;
  url: URL;
  /** By their names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Json;
  timeoutMs: number;
}>;

export type ReadCall = Readonly<{ call: Call; problems: readonly string[] }>;

/** Parses a call; inputs with problems get a default. */
export function readCall(input: Variables): ReadCall {
  const problems: string[] = [];
  const complain = (problem: string) => void problems.push(problem);
  const method = methodOf(input.method, complain);
  const body = input.body ?? null;
  if (body !== null && BODILESS.has(method)) {
    complain(`A ${method} has no body; leave \`body\` out, or map it to null.`);
  }
  const call: Call = {
    method,
    url: urlOf(input.url, complain),
    headers: headersOf(input.headers, complain),
    body,
    timeoutMs: timeoutOf(input.timeout, complain),
  };
  return { call, problems };
}

type Complain = (problem: string) => void;

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const BODILESS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

function methodOf(value: Json = null, complain: Complain): string {
  if (value === null) return "GET";
  const method = typeof value === "string" ? value.trim().toUpperCase() : "";
  if (METHODS.includes(method)) return method;
  complain(`\`method\` is ${said(value)}, and has to be one of ${METHODS.join(", ")}.`);
  // Not GET, so that its body is not reported as well.
  return "POST";
}

const NOWHERE = "https://invalid.invalid/";

function urlOf(value: Json = null, complain: Complain): URL {
  if (typeof value !== "string") {
    complain(`\`url\` is ${said(value)}, and has to be a text such as https://example.com/orders.`);
  } else if (value.length > MAX_URL_LENGTH) {
    complain(`\`url\` has more than ${MAX_URL_LENGTH} characters.`);
  } else if (!URL.canParse(value) || !/^https?:/i.test(value.trim())) {
    // Not quoted in full: its query may hold private data.
    complain(`\`url\` is no http or https URL: ${quoted(value.replace(/[?#].*$/s, ""))}.`);
  } else {
    return new URL(value);
  }
  return new URL(NOWHERE);
}

/** Headers that belong to the connection, or that are computed. */
const OURS: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

function headersOf(value: Json = null, complain: Complain): Call["headers"] {
  if (value === null) return {};
  if (typeof value !== "object" || isList(value)) {
    complain(`\`headers\` is ${said(value)}, and has to be a context of texts.`);
    return {};
  }
  const headers = new Map<string, string>();
  for (const [written, given] of Object.entries(value)) {
    if (given === null) continue;
    const name = written.toLowerCase();
    const problem = problemWithName(name, headers) ?? problemWithValue(given);
    if (problem !== undefined) complain(`\`headers\`: ${quoted(written)} ${problem}`);
    else headers.set(name, String(given));
  }
  const length = [...headers].reduce((sum, [name, text]) => sum + name.length + text.length, 0);
  if (headers.size > MAX_HTTP_HEADERS || length > MAX_HTTP_HEADER_LENGTH) {
    complain(
      `\`headers\` has more than ${MAX_HTTP_HEADERS} entries or ${MAX_HTTP_HEADER_LENGTH} characters.`,
    );
  }
  return Object.fromEntries(headers);
}

function problemWithName(name: string, known: ReadonlyMap<string, string>): string | undefined {
  if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name)) return "is no name of a header.";
  if (OURS.has(name)) return "is set by the engine, or not sent at all.";
  return known.has(name) ? "is there twice, in large and small letters." : undefined;
}

function problemWithValue(value: Json): string | undefined {
  if (typeof value === "object") return "is no text.";
  return isHeaderText(String(value)) ? undefined : "has characters that no header can have.";
}

/** Whether a text can stand in a header: no line breaks, and nothing beyond Latin-1. */
export function isHeaderText(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}

function timeoutOf(value: Json = null, complain: Complain): number {
  if (value === null) return DEFAULT_HTTP_TIMEOUT_MS;
  const parsed = typeof value === "string" ? parseDuration(value) : undefined;
  if (parsed?.ok) {
    const { months, days, timeMs } = parsed.value;
    const ms = days * 86_400_000 + timeMs;
    if (months === 0 && ms > 0 && ms <= MAX_HTTP_TIMEOUT_MS) return ms;
  }
  complain(
    `\`timeout\` is ${said(value)}, and has to be a duration of at most PT${MAX_HTTP_TIMEOUT_MS / 1_000}S, such as PT10S.`,
  );
  return DEFAULT_HTTP_TIMEOUT_MS;
}

/** The type of a value, without revealing its content. */
function said(value: Json): string {
  if (value === null) return "missing";
  if (typeof value === "string") return quoted(value);
  if (isList(value)) return "a list";
  return typeof value === "object" ? "a context" : `the ${typeof value} ${value}`;
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
