import { addDuration, type Duration, formatDuration } from "../../definition/time/duration.ts";
import type { Instant } from "../../definition/time/instant.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Activity } from "./activity.ts";
import type { Agenda } from "./agenda.ts";
import type { TimerLoop } from "./timer-loop.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** Real time that an advance waits without any work being finished. */
export const ADVANCE_PATIENCE_MS = 2_000;

/** The time of the clock, how many timers fired, and the work that was still running then. */
export type Advanced = Readonly<{ now: Instant; fired: number; left: readonly string[] }>;

export type Advance = (by: Duration) => Promise<Advanced>;

/**
 * Moves a virtual clock through every due instant in turn, and continues when no work is left
 * there. Work that makes no progress delays it once, not at every instant. Advances run one by one.
 */
export function clockAdvancer({
  clock,
  agenda,
  activity,
  timers,
  patienceMs = ADVANCE_PATIENCE_MS,
}: Readonly<{
  clock: Pick<VirtualClock, "now" | "moveTo">;
  agenda: Pick<Agenda, "look" | "next">;
  activity: Pick<Activity, "settle" | "whatIsLeft">;
  timers: Pick<TimerLoop, "fired">;
  patienceMs?: number;
}>): Advance {
  let last: Promise<unknown> = Promise.resolve();
  return (by) => {
    const mine = last.then(() => advance(by));
    last = mine.catch(() => undefined);
    return mine;
  };

  async function advance(by: Duration): Promise<Advanced> {
    const target = addDuration(clock.now(), by);
    if (target < clock.now()) throw backwards(by);
    const firedBefore = timers.fired;
    const givenUp = new Set<string>();
    let next: Instant | undefined = clock.now();
    while (next !== undefined && next < target) {
      await clock.moveTo(next);
      await settle(givenUp);
      next = agenda.next(); // later than now: what is due and makes no progress was given up
    }
    await clock.moveTo(target);
    await settle(givenUp);
    const left = activity.whatIsLeft();
    return { now: clock.now(), fired: timers.fired - firedBefore, left };
  }

  async function settle(givenUp: Set<string>): Promise<void> {
    agenda.look();
    await activity.settle({ patienceMs, givenUp });
  }
}

function backwards(by: Duration): EngineError {
  return new EngineError("request/invalid", {
    happened: "A virtual clock moves forward only",
    where: `by ${formatDuration(by)}`,
    fix: "Advance it by a duration of zero or more, for example PT1H.",
  });
}
