import type { Clock } from "../../ports/clock.ts";
import { type Timers, timerMessage } from "../../ports/timers.ts";
import { type TimerMessages, wheelReachMs } from "./timer-route.ts";

type Options = Readonly<{
  queue: TimerMessages;
  clock: Pick<Clock, "now">;
  queueMaxSeconds: number;
}>;

/** Timers without a scheduler: distant ones stay in the store, where the wheel finds them. */
export function wheelTimers({ queue, clock, queueMaxSeconds }: Options): Timers {
  const reachMs = wheelReachMs(queueMaxSeconds);
  return {
    async arm(timer) {
      const distanceMs = timer.dueAt - clock.now();
      // Timers that the index does not cover, those from the wheel included, always go to the
      // queue.
      if (timer.covered && distanceMs > reachMs) return;
      await queue.send(timerMessage(timer), Math.max(distanceMs, 0));
    },
    // A queued message cannot be withdrawn, and the wheel checks what is open when it runs.
    async disarm() {},
  };
}
