import type { HttpAnswer, HttpOutcome, HttpRequest } from "../../../ports/http.ts";
import { shown } from "./target.ts";

export type Redirected = Readonly<
  /** Not a redirect: it is the final response. */
  | { kind: "here" }
  | { kind: "on"; request: HttpRequest }
  | Extract<HttpOutcome, { kind: "refused" }>
>;

/** Whether a status is a redirect. */
export function isRedirect(status: number): boolean {
  return REDIRECTS.has(status);
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * The request that follows a redirect. Another origin gets only headers that do not identify the
 * caller; a request with secrets is not redirected there at all.
 */
export function redirected(request: HttpRequest, { status, headers }: HttpAnswer): Redirected {
  const { location } = headers;
  if (!isRedirect(status) || location === undefined) return { kind: "here" };
  if (!URL.canParse(location, request.url.href)) {
    return refuse(request, "its Location is no URL.");
  }
  const url = new URL(location, request.url);
  const isElsewhere = url.origin !== request.url.origin;
  if (isElsewhere && request.isConfidential) {
    return refuse(request, `it leads to ${url.origin}, and the call holds secrets.`);
  }
  const asked = asGet(request, status);
  const kept = isElsewhere ? withOnly(asked.headers, FOR_ANYBODY) : asked.headers;
  return { kind: "on", request: { ...asked, url, headers: kept } };
}

function refuse({ url }: HttpRequest, why: string): Redirected {
  return { kind: "refused", problem: `The redirect of ${shown(url)} is not followed: ${why}` };
}

/** As browsers do it: 303 means GET, and by convention a POST is not repeated after 301 and 302. */
function asGet(request: HttpRequest, status: number): HttpRequest {
  const { method } = request;
  const turns = status === 303 ? method !== "HEAD" : status < 303 && method === "POST";
  if (!turns) return request;
  const { body: _, ...rest } = request;
  const headers = without(request.headers, "content-");
  return { ...rest, method: "GET", headers };
}

const FOR_ANYBODY: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "content-length",
  "content-type",
  "idempotency-key",
  "user-agent",
]);

type Headers = HttpRequest["headers"];

const withOnly = (headers: Headers, names: ReadonlySet<string>): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => names.has(name)));

const without = (headers: Headers, prefix: string): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(prefix)));
