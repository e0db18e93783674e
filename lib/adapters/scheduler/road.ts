import { MAX_QUEUE_DELAY_MS, WHEEL_AHEAD_MS } from "../../definition/limits.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { TimerMessage, TimerStartMessage } from "../../ports/message.ts";

/** How far the timer queue reaches, and how long before its instant a schedule puts a timer there. */
export type RoadSettings = Readonly<{ queueMaxSeconds: number; leadSeconds: number }>;

/** Where a timer waits. What a queue holds for its longest time is looked at again then. */
export type Road = Readonly<{ by: "queue" } | { by: "schedule"; at: Instant }>;

/** The queue, as far as the roads need it. */
export interface TimerMessages {
  send(message: TimerMessage | TimerStartMessage, afterMs: number): Promise<void>;
}

/** The road of a timer that is due at `dueAt`; it is chosen when the timer is armed, not before. */
export function roadOf(
  { dueAt, now }: Readonly<{ dueAt: Instant; now: Instant }>,
  { queueMaxSeconds, leadSeconds }: RoadSettings,
): Road {
  const at = wholeSecond(dueAt - leadSeconds * 1_000);
  const isNear = dueAt - now <= queueMaxSeconds * 1_000 || at - now < MIN_AHEAD_MS;
  return isNear ? { by: "queue" } : { by: "schedule", at };
}

/** How far the queue must reach where a wheel turns, so that no timer opens behind the wheel. */
export function wheelReachMs(queueMaxSeconds: number): number {
  return Math.min(
    Math.max(queueMaxSeconds * 1_000, WHEEL_AHEAD_MS + INDEX_LAG_MS),
    MAX_QUEUE_DELAY_MS,
  );
}

/** A schedule may not lie in the past, by the service's clock: the queue takes what comes near it. */
const MIN_AHEAD_MS = 5_000;

/** More than an index ever lags behind its items, and clocks differ. */
const INDEX_LAG_MS = 120_000;

/** Schedules know whole seconds: rounded down, so that none comes late. */
function wholeSecond(epochMs: number): Instant {
  return instantFrom(Math.floor(epochMs / 1_000) * 1_000);
}
