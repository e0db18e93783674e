import { instantFrom } from "../../definition/time/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { FanOutMessage } from "../../ports/message.ts";
import type { Pages } from "../../ports/pages.ts";
import { SimulatedQueue } from "./queue.ts";

/** The parts of fan-outs in memory, delivered by the world. */
export class SimulatedPages extends SimulatedQueue<FanOutMessage> implements Pages {
  readonly #clock: Pick<Clock, "now">;

  constructor(queue: ConstructorParameters<typeof SimulatedQueue<FanOutMessage>>[0]) {
    super(queue);
    this.#clock = queue.clock;
  }

  override send(message: FanOutMessage, afterMs = 0): Promise<void> {
    return super.send(message, instantFrom(this.#clock.now() + afterMs));
  }
}
