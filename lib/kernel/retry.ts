import { addDuration, type Duration } from "../definition/time/duration.ts";
import { instantFrom } from "../definition/time/instant.ts";
import { type Draft, reopenTicket } from "./draft.ts";
import type { TaskFailed } from "./fact.ts";
import type { TaskTicket } from "./instance.ts";

/**
 * Gives a failed task its next attempt, under the same ticket; false when no attempt is left.
 */
export function retryTask(
  draft: Draft,
  ticket: TaskTicket,
  failed: TaskFailed,
  backoff?: Duration,
): boolean {
  const next = attemptAfter(draft, ticket, failed, backoff);
  if (next === undefined) return false;
  const { claim: _claim, notBefore: _past, ...kept } = ticket;
  reopenTicket(draft, { ...kept, ...next });
  return true;
}

type Attempt = Pick<TaskTicket, "attempt" | "retries" | "notBefore">;

/**
 * The attempt that follows a failure, if one is left. The reporter's word on attempts and delay
 * counts more than the model's. The claim of the failed attempt goes with it.
 */
export function attemptAfter(
  { now }: Draft,
  ticket: TaskTicket,
  failed: TaskFailed,
  backoff: Duration = AT_ONCE,
): Attempt | undefined {
  const retries = failed.retries ?? ticket.retries - 1;
  if (retries < 1) return undefined;
  const notBefore =
    failed.retryAfterMs === undefined
      ? addDuration(now, backoff)
      : instantFrom(now + failed.retryAfterMs);
  return { attempt: failed.attempt + 1, retries, ...(notBefore > now && { notBefore }) };
}

const AT_ONCE: Duration = { months: 0, days: 0, timeMs: 0 };
