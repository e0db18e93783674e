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
 * Timers in memory, delivered by the world as messages of a queue: late, duplicated or, with
 * `lose`, never. None is early by its clock.
 */
export class SimulatedTimers
  extends SimulatedQueue<TimerMessage | TimerStartMessage>
  implements Timers
{
  async arm(timer: ArmedTimer | ArmedStart): Promise<void> {
    await this.send(timerMessage(timer), timer.dueAt);
  }

  /** A message in delivery is not withdrawn. */
  async disarm(timer: Parameters<typeof timerName>[0]): Promise<void> {
    const name = timerName(timer);
    this.lose(({ message, isRunning }) => !isRunning && timerName(message) === name);
  }
}
