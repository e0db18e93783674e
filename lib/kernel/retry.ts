/**
 * Retry and backoff: the one place that says when the next attempt of a failed task is due, for a
 * task with a ticket of its own and for an item of a batch, whose attempts live in messages.
 *
 * 1. What the worker reports about attempts and delay overrides what the model says.
 * 2. Without a delay from either, the next attempt is due at once.
 * 3. A backoff that cannot be read leaves the attempt undecided: an incident keeps the failure. It
 *    is read only when it is needed.
 * 4. The claim of the failed attempt ends with that attempt.
 */
import { accepted, type Parsed } from "../definition/parsed.ts";
import { addDuration, parseDuration } from "../definition/time/duration.ts";
import { type Instant, instantFrom } from "../definition/time/instant.ts";
import { type Draft, reopenTicket } from "./draft.ts";
import type { TaskFailed } from "./fact.ts";
import type { TaskTicket } from "./instance.ts";

/** Gives a failed task its next attempt, under the same ticket; false when no attempt is left. */
export function retryTask(
  draft: Draft,
  ticket: TaskTicket,
  failed: TaskFailed,
  backoff?: string,
): Parsed<boolean> {
  const next = attemptAfter(draft.now, ticket, failed, backoff);
  if (!next.ok) return next;
  if (next.value === undefined) return accepted(false);
  const { claim: _claim, notBefore: _past, ...kept } = ticket;
  reopenTicket(draft, { ...kept, ...next.value });
  return accepted(true);
}

type Attempt = Pick<TaskTicket, "attempt" | "retries" | "notBefore">;

/** The attempt that follows a failure, if one is left; `backoff` is the duration of the model. */
export function attemptAfter(
  now: Instant,
  ticket: TaskTicket,
  failed: TaskFailed,
  backoff?: string,
): Parsed<Attempt | undefined> {
  const retries = retriesAfter(ticket, failed);
  if (retries < 1) return accepted(undefined);
  const due = dueAfter(now, failed, backoff);
  if (!due.ok) return due;
  const notBefore = due.value;
  return accepted({ attempt: failed.attempt + 1, retries, ...(notBefore > now && { notBefore }) });
}

/** How many attempts a failure leaves. */
export const retriesAfter = (ticket: TaskTicket, failed: TaskFailed): number =>
  failed.retries ?? ticket.retries - 1;

function dueAfter(
  now: Instant,
  { retryAfterMs }: TaskFailed,
  backoff: string | undefined,
): Parsed<Instant> {
  if (retryAfterMs !== undefined) return accepted(instantFrom(now + retryAfterMs));
  if (backoff === undefined) return accepted(now);
  const duration = parseDuration(backoff);
  return duration.ok ? accepted(addDuration(now, duration.value)) : duration;
}
