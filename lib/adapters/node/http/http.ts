import { lookup } from "node:dns/promises";
import { MAX_HTTP_BODY_BYTES, MAX_REDIRECTS } from "../../../definition/limits.ts";
import type { Http, HttpAnswer, HttpOutcome, HttpRequest } from "../../../ports/http.ts";
import { AnswerTooLarge, exchange } from "./exchange.ts";
import { isRedirect, redirected } from "./redirect.ts";
import { locate, type Reach, type Resolve, shown } from "./target.ts";

export type NodeHttpOptions = Readonly<{
  reach: Reach;
  /** By default as this machine resolves names. */
  resolve?: Resolve;
  /** Certificates to trust instead of the usual ones. */
  ca?: string;
}>;

/** HTTP by Node's own client; every redirect is checked like the first request. */
export function nodeHttp(options: NodeHttpOptions): Http {
  return { send: (request) => send(request, options) };
}

const everyAddress: Resolve = (host) => lookup(host, { all: true });

async function send(request: HttpRequest, options: NodeHttpOptions): Promise<HttpOutcome> {
  const tooLate = AbortSignal.timeout(request.timeoutMs);
  const signal = AbortSignal.any([request.signal, tooLate]);
  const work = { ...request, signal };
  try {
    return await Promise.race([follow(work, options), rejectedBy(signal)]);
  } catch (cause) {
    if (request.signal.aborted) return failed("The call was broken off.");
    const to = `${request.method} ${shown(request.url)}`;
    if (tooLate.aborted) return failed(`${to} was not answered within ${request.timeoutMs} ms.`);
    if (cause instanceof AnswerTooLarge) {
      return failed(`The answer to ${to} has more than ${MAX_HTTP_BODY_BYTES} bytes.`);
    }
    return failed(`${to} failed: ${reasonOf(cause)}`);
  }
}

/** Resolving a name cannot be aborted, but it need not be awaited. */
function rejectedBy(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const rejectNow = () => reject(signal.reason);
  if (signal.aborted) rejectNow();
  else signal.addEventListener("abort", rejectNow, { once: true });
  promise.catch(() => {});
  return promise;
}

async function follow(request: HttpRequest, options: NodeHttpOptions): Promise<HttpOutcome> {
  let current = request;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const outcome = await hop(current, options);
    if (outcome.kind !== "answered") return outcome;
    const next = redirected(current, outcome.answer);
    switch (next.kind) {
      case "here":
        return outcome;
      case "refused":
        return next;
      case "on":
        current = next.request;
    }
  }
  return failed(`${shown(request.url)} redirects more than ${MAX_REDIRECTS} times.`);
}

async function hop(request: HttpRequest, options: NodeHttpOptions): Promise<HttpOutcome> {
  const { reach, resolve = everyAddress, ca } = options;
  const { url, method, headers, body, signal } = request;
  const located = await locate(url, reach, resolve);
  if (located.kind !== "located") return located;
  signal.throwIfAborted();
  const { host, addresses } = located;
  const answer: HttpAnswer = await exchange({
    url,
    host,
    addresses,
    method,
    headers,
    signal,
    isRead: (status) => !isRedirect(status),
    ...(body !== undefined && { body }),
    ...(ca !== undefined && { ca }),
  });
  return { kind: "answered", answer };
}

const failed = (problem: string): HttpOutcome => ({ kind: "failed", problem });

/** An attempt on several addresses failed several times; the first failure is reported. */
function reasonOf(cause: unknown): string {
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause;
  if (!(first instanceof Error)) return String(first);
  const code = "code" in first && typeof first.code === "string" ? ` (${first.code})` : "";
  return first.message.includes(code.slice(2, -1)) && code !== ""
    ? first.message
    : `${first.message}${code}`;
}
