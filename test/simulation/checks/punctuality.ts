// How late timers fire. A run without faults keeps the published precision; a run in which only
// routes are lost keeps the promise of the sweep.
import type { TimerTicket } from "../../../lib/kernel/instance.ts";
import type { Trouble } from "../actors/swarm.ts";
import { must } from "./violation.ts";

/** A timer that has fired: how far ahead it was when it was opened, and how late it came. */
export type Fired = Readonly<{ aheadMs: number; lateMs: number }>;

/** The faults of a run. */
export type Circumstances = Readonly<{
  isCalm: boolean;
  /** One actor crashes once. */
  isStruck: boolean;
  troubles: ReadonlySet<Trouble>;
  /** The index has returned an older state. */
  hasIndexLagged: boolean;
}>;

/** Whole seconds of the queue, rounded up, and a little for the steps themselves. */
const CALM_MS = 1_500;
/** A minute until it counts as overdue, and one until the next sweep. */
const SWEPT_MS = 120_000;
/** A message may come this late, and two clocks differ by this much. */
const QUEUE_LATE_MS = 45_000;
const SKEW_MS = 4_000;
const SLACK_MS = 3_000;
/** What the index has not shown in time follows with the next sweep. */
const ROUND_MS = 660_000;

/** What was being handled is redelivered by its queue, or by the next sweep. */
const STRUCK_MS = 90_000;

const BOUNDED: ReadonlySet<Trouble> = new Set<Trouble>(["timers", "jump", "duplicate"]);

/** Throws when a timer was later than its circumstances allow; returns how late it was. */
export function checkPunctual(
  { id, dueAt, since }: TimerTicket,
  now: number,
  about: Circumstances,
): Fired {
  const lateMs = now - Math.max(dueAt, since);
  const boundMs = boundOf(about);
  must(lateMs <= boundMs, () => `${id} fired ${lateMs} ms late, ${boundMs} are promised`);
  return { aheadMs: dueAt - since, lateMs };
}

function boundOf({ isCalm, isStruck, troubles, hasIndexLagged }: Circumstances): number {
  if (isCalm) return CALM_MS;
  if ([...troubles].some((trouble) => !BOUNDED.has(trouble))) return Number.POSITIVE_INFINITY;
  const lagMs = (hasIndexLagged ? ROUND_MS : 0) + (isStruck ? STRUCK_MS : 0);
  return SWEPT_MS + QUEUE_LATE_MS + SKEW_MS + SLACK_MS + lagMs;
}
