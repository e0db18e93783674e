import { setTimeout as pause } from "node:timers/promises";
import { instantFrom } from "../../definition/time/instant.ts";
import type { Clock } from "../../ports/clock.ts";

/** The wall clock of this machine: it may be wrong, and it may jump. */
export function realClock(): Clock {
  return {
    // Rounded down: a clock that is ahead by a part of a millisecond would let timers fire early.
    now: () => instantFrom(Math.floor(Date.now())),
    pause: async (ms) => pause(ms),
  };
}

/** A monotonic clock that is meaningless outside this process: for pauses between retries. */
export function steadyClock(): Clock {
  return {
    now: () => instantFrom(Math.floor(performance.timeOrigin + performance.now())),
    pause: async (ms) => pause(ms),
  };
}
