import { MAX_QUEUE_DELAY_MS, WHEEL_AHEAD_MS } from "../../definition/limits.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { TimerMessage, TimerStartMessage } from "../../ports/message.ts";

/** The longest delay that the timer queue takes, and how long before the due time a schedule fires. */
export type TimerRouteSettings = Readonly<{ queueMaxSeconds: number; leadSeconds: number }>;

/** Where a timer waits. A timer that outlasts the longest queue delay is re-checked after it. */
export type TimerRoute = Readonly<{ by: "queue" } | { by: "schedule"; at: Instant }>;

/** The part of the timer queue that arming a timer needs. */
export interface TimerMessages {
  send(message: TimerMessage | TimerStartMessage, afterMs: number): Promise<void>;
}

/** Chooses queue or schedule for a timer that is due at `dueAt`, at the moment it is armed. */
export function timerRouteOf(
  { dueAt, now }: Readonly<{ dueAt: Instant; now: Instant }>,
  { queueMaxSeconds, leadSeconds }: TimerRouteSettings,
): TimerRoute {
  const at = wholeSecond(dueAt - leadSeconds * 1_000);
  const isNear = dueAt - now <= queueMaxSeconds * 1_000 || at - now < MIN_AHEAD_MS;
  return isNear ? { by: "queue" } : { by: "schedule", at };
}

/** The shortest queue delay that a wheel needs, so that no timer is armed behind the wheel. */
export function wheelReachMs(queueMaxSeconds: number): number {
  return Math.min(
    Math.max(queueMaxSeconds * 1_000, WHEEL_AHEAD_MS + INDEX_LAG_MS),
    MAX_QUEUE_DELAY_MS,
  );
}

/** The service refuses a schedule in the past by its own clock: the queue takes what comes close. */
const MIN_AHEAD_MS = 5_000;

/** More than an index lags behind its items, clock skew included. */
const INDEX_LAG_MS = 120_000;

/** Schedules have whole seconds: rounded down, so that none fires late. */
function wholeSecond(epochMs: number): Instant {
  return instantFrom(Math.floor(epochMs / 1_000) * 1_000);
}
