import { EngineError } from "../../lib/ports/engine-error.ts";

/**
 * How long a message stays away that failed, by how often it came: what passes soon is tried soon.
 * Then its queue says, which is minutes, so that ten tries outlast an outage of some of them.
 */
export function pauseAfterFailure(receives: number): number | undefined {
  return [2, 10, 30][receives - 1];
}

/** Whether the message itself is at fault: no later try could help. */
export function isHopeless(error: unknown): boolean {
  if (!(error instanceof EngineError) || error.retryable) return false;
  return error.code === "message/unreadable" || error.code.startsWith("request/");
}
