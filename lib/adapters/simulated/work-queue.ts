import { instantFrom } from "../../definition/time/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { WorkMessage } from "../../ports/message.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";
import { SimulatedQueue } from "./queue.ts";

/** The work queue in memory, delivered by the simulated world. */
export class SimulatedWorkQueue extends SimulatedQueue<WorkMessage> implements WorkQueue {
  readonly #clock: Pick<Clock, "now">;

  constructor(queue: ConstructorParameters<typeof SimulatedQueue<WorkMessage>>[0]) {
    super(queue);
    this.#clock = queue.clock;
  }

  override send(message: WorkMessage, afterMs = 0): Promise<void> {
    return super.send(message, instantFrom(this.#clock.now() + afterMs));
  }
}
