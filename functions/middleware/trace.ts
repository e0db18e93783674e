/**
 * Trace context of the W3C. Messages carry it beside their bodies, so that the log lines of
 * everything that follows from one call have one trace id.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";

/** Where we are in a trace: `spanId` is that of the message, or of the call, at hand. */
export type Trace = Readonly<{ traceId: string; spanId: string; flags: string }>;

/** The name of the header, and of the attribute of a message. */
export const TRACEPARENT = "traceparent";

const current = new AsyncLocalStorage<Trace>();

/** The trace that the running code belongs to. */
export function currentTrace(): Trace | undefined {
  return current.getStore();
}

/** Runs the code as a new span: a child of `parent`, or the first of its trace. */
export function inTrace<T>(parent: string | undefined, code: () => T): T {
  const { traceId, flags } = parseTraceparent(parent) ?? { traceId: hex(16), flags: "01" };
  return current.run({ traceId, spanId: hex(8), flags }, code);
}

/** The same as the header and the attribute say it. */
export function currentTraceparent(): string | undefined {
  const trace = currentTrace();
  return trace && formatTraceparent(trace);
}

/** As the header and the attribute say it. */
export function formatTraceparent({ traceId, spanId, flags }: Trace): string {
  return `00-${traceId}-${spanId}-${flags}`;
}

/** Undefined where the text is invalid: a new trace begins then. */
export function parseTraceparent(text: string | undefined): Trace | undefined {
  const [, version, traceId = "", spanId = "", flags = ""] = TRACE.exec(text ?? "") ?? [];
  const isNone = version === undefined || version === "ff";
  return isNone || isZero(traceId) || isZero(spanId) ? undefined : { traceId, spanId, flags };
}

const TRACE = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

const isZero = (text: string): boolean => /^0*$/.test(text);

const hex = (bytes: number): string => randomBytes(bytes).toString("hex");
