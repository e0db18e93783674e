import {
  DEFAULT_RETENTION_MS,
  MAX_PURGED_AT_ONCE,
  MIN_RETENTION_MS,
} from "../definition/limits.ts";
import { addDuration, parseDuration } from "../definition/time/duration.ts";
import type { Instant } from "../definition/time/instant.ts";
import { type Alarm, quietAlarm } from "../ports/alarm.ts";
import type { Clock } from "../ports/clock.ts";
import { EngineError } from "../ports/engine-error.ts";

/** How long ended instances are kept, by the option's text. */
export function retentionMsOf(text: string | undefined, now: Instant): number {
  if (text === undefined) return DEFAULT_RETENTION_MS;
  const duration = parseDuration(text);
  if (!duration.ok) throw unusable(duration.problem, duration.hint);
  const lengthMs = addDuration(now, duration.value) - now;
  if (lengthMs >= MIN_RETENTION_MS) return lengthMs;
  throw unusable(
    `The retention ${text} is too short.`,
    "Keep ended instances for P15D at least: a late repeat of a request must still find them.",
  );
}

/**
 * Removes what has expired, at once and then every hour of real time. A long backlog is removed
 * slice by slice, so that steps can run in between. The returned function stops it.
 */
export function purgeRegularly({
  store,
  clock,
  onTrouble,
  alarm = quietAlarm,
}: Readonly<{
  store: Readonly<{ purgeExpired(now: Instant, limit: number): number }>;
  clock: Pick<Clock, "now">;
  onTrouble?: ((message: string) => void) | undefined;
  alarm?: Alarm;
}>): () => void {
  let callOff: () => void;
  const purge = () => {
    callOff = alarm(purgeSlice() ? BETWEEN_SLICES_MS : HOUR_MS, purge);
  };
  const purgeSlice = (): boolean => {
    try {
      return store.purgeExpired(clock.now(), MAX_PURGED_AT_ONCE) >= MAX_PURGED_AT_ONCE;
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      onTrouble?.(`Removing what has expired: ${why} It is tried again in an hour.`);
      return false;
    }
  };
  purge();
  return () => callOff();
}

const HOUR_MS = 3_600_000;
const BETWEEN_SLICES_MS = 50;

function unusable(happened: string, fix: string): EngineError {
  return new EngineError("engine/misconfigured", {
    happened: happened.replace(/\.$/, ""),
    where: "retention",
    fix,
  });
}
