import type { Clock } from "../../ports/clock.ts";
import { type Timers, timerMessage } from "../../ports/timers.ts";
import { type TimerMessages, wheelReachMs } from "./timer-route.ts";

type Options = Readonly<{
  queue: TimerMessages;
  clock: Pick<Clock, "now">;
  queueMaxSeconds: number;
}>;

/** Timers without a scheduler: those that are far stand in the store, where the wheel finds them. */
export function wheelTimers({ queue, clock, queueMaxSeconds }: Options): Timers {
  const reachMs = wheelReachMs(queueMaxSeconds);
  return {
    async arm(timer) {
      const distanceMs = timer.dueAt - clock.now();
      // The wheel itself says that the index does not cover it: then it is the queue's in any case.
      if (timer.covered && distanceMs > reachMs) return;
      await queue.send(timerMessage(timer), Math.max(distanceMs, 0));
    },
    // A queue gives nothing back, and the wheel looks at what there is when it comes by.
    async disarm() {},
  };
}
