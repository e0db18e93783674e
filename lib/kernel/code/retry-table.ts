/**
 * When a task of a workflow in code is tried again.
 *
 * 1. Without a table: three attempts, after 1 s and 2 s, doubled up to a minute, 20 % of it by
 *    chance. A table that says a backoff has multiplier 1 and no chance unless it says them.
 * 2. An error with a code is final, unless `retryOn` names its code. `nonRetryable` is final always.
 * 3. What the worker reports about attempts and delay overrides the table.
 * 4. Chance is drawn from the ticket and the attempt, so every decision draws the same.
 */
import type { RetryTable } from "../../definition/sandbox.ts";
import { addDuration, parseDuration } from "../../definition/time/duration.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { TaskFailed } from "../fact.ts";
import type { TaskTicket } from "../instance.ts";
import { hash } from "./digest.ts";

/** Attempts of a task without a table. */
const ATTEMPTS = 3;
const DEFAULTS = { backoff: "PT1S", multiplier: 2, jitter: 0.2, maxBackoff: "PT1M" } as const;

/** How many attempts a task has. */
export const attemptsOf = ({ maxAttempts = ATTEMPTS }: RetryTable = {}): number => maxAttempts;

/** Whether another attempt may follow this failure at all. */
export function isFinal({ code }: Pick<TaskFailed, "code">, table: RetryTable = {}): boolean {
  if (code === undefined) return false;
  return table.nonRetryable?.includes(code) === true || table.retryOn?.includes(code) !== true;
}

/** The failure with the pause before the next attempt, where the worker has not said one. */
export function paused(
  failed: TaskFailed,
  { table, now, chance }: Readonly<{ table: RetryTable | undefined; now: Instant; chance: string }>,
): TaskFailed {
  if (failed.retryAfterMs !== undefined) return failed;
  return { ...failed, retryAfterMs: pauseAfter(failed.attempt, table, { now, chance }) };
}

/** Milliseconds between an attempt that failed and the next one. */
export function pauseAfter(
  attempt: number,
  table: RetryTable | undefined,
  { now, chance }: Readonly<{ now: Instant; chance: string }>,
): number {
  const isPlain = table?.backoff !== undefined;
  const base = table?.backoff ?? DEFAULTS.backoff;
  const multiplier = table?.multiplier ?? (isPlain ? 1 : DEFAULTS.multiplier);
  const jitter = table?.jitter ?? (isPlain ? 0 : DEFAULTS.jitter);
  const longest = table?.maxBackoff ?? (isPlain ? undefined : DEFAULTS.maxBackoff);
  const grown = millisecondsOf(base, now) * multiplier ** (attempt - 1);
  const capped = Math.min(grown, longest === undefined ? LONGEST_MS : millisecondsOf(longest, now));
  const drawn = Number.parseInt(hash(`${chance} ${attempt}`), 36) / 2 ** 53;
  return Math.round(capped * (1 - jitter * drawn));
}

/** A pause never gets longer than this: ten years are as good as never. */
const LONGEST_MS = 10 * 365 * 86_400_000;

function millisecondsOf(text: string, now: Instant): number {
  const duration = parseDuration(text);
  if (!duration.ok) throw new Error(`A retry table: ${duration.problem}`);
  return addDuration(now, duration.value) - now;
}

/** What chance is drawn from. */
export const chanceOf = (instanceId: string, { id }: Pick<TaskTicket, "id">): string =>
  `${instanceId} ${id}`;

/** When the timeout of a whole task is over. */
export const timeoutAt = (text: string, now: Instant): Instant =>
  instantFrom(now + millisecondsOf(text, now));
