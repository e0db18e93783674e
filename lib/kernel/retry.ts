import { addDuration, type Duration } from "../definition/time/duration.ts";
import { instantFrom } from "../definition/time/instant.ts";
import { type Draft, reopenTicket } from "./draft.ts";
import type { TaskFailed } from "./fact.ts";
import type { TaskTicket } from "./instance.ts";

/**
 * Gives a failed task its next attempt, under the same ticket; false when no attempt is left.
 *
 * The reporter's word on attempts and delay counts more than the model's. The claim of the failed
 * attempt goes with it.
 */
export function retryTask(
  draft: Draft,
  ticket: TaskTicket,
  failed: TaskFailed,
  backoff: Duration = AT_ONCE,
): boolean {
  const retries = failed.retries ?? ticket.retries - 1;
  if (retries < 1) return false;
  const notBefore =
    failed.retryAfterMs === undefined
      ? addDuration(draft.now, backoff)
      : instantFrom(draft.now + failed.retryAfterMs);
  const { claim: _claim, notBefore: _past, ...kept } = ticket;
  reopenTicket(draft, {
    ...kept,
    attempt: ticket.attempt + 1,
    retries,
    ...(notBefore > draft.now && { notBefore }),
  });
  return true;
}

const AT_ONCE: Duration = { months: 0, days: 0, timeMs: 0 };
