import type { TimerMessage, TimerStartMessage } from "../../ports/message.ts";
import {
  type ArmedStart,
  type ArmedTimer,
  type Timers,
  timerMessage,
  timerName,
} from "../../ports/timers.ts";
import { SimulatedQueue } from "./queue.ts";

/**
 * Timers in memory, fired by the world as messages of a queue: late, doubled or, with `lose`, never.
 * None is early by the clock that it was made with.
 */
export class SimulatedTimers
  extends SimulatedQueue<TimerMessage | TimerStartMessage>
  implements Timers
{
  async arm(timer: ArmedTimer | ArmedStart): Promise<void> {
    await this.send(timerMessage(timer), timer.dueAt);
  }

  /** What is being delivered is not called back. */
  async disarm(timer: Parameters<typeof timerName>[0]): Promise<void> {
    const name = timerName(timer);
    this.lose(({ message, isRunning }) => !isRunning && timerName(message) === name);
  }
}
