import { EngineError } from "../../lib/ports/engine-error.ts";

/**
 * How long a failed message is hidden, by its receive count: transient failures are retried soon.
 * After that its queue's visibility timeout applies, so that ten attempts outlast an outage of
 * minutes.
 */
export function pauseAfterFailure(receives: number): number | undefined {
  return [2, 10, 30][receives - 1];
}

/** Whether the message itself is at fault: no retry could help. */
export function isHopeless(error: unknown): boolean {
  if (!(error instanceof EngineError) || error.retryable) return false;
  return error.code === "message/unreadable" || error.code.startsWith("request/");
}
