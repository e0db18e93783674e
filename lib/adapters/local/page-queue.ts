import type { FanOutMessage, Invocation, Verdict } from "../../ports/message.ts";
import { labelOf } from "../../ports/message-kinds.ts";
import type { Pages } from "../../ports/pages.ts";
import type { Work, Workplace } from "./activity.ts";
import { Deliveries, type Surroundings } from "./deliveries.ts";
import type { Invocations } from "./invocations.ts";

/** Parts of fan-outs at a time, unless the host says otherwise: each works on many rows itself. */
export const DEFAULT_PAGES_AT_ONCE = 4;

/** Takes one part of a fan-out. */
export type PageConsumer = (message: FanOutMessage, invocation: Invocation) => Promise<Verdict>;

/**
 * Queues the parts of fan-outs in memory; none waits for another. A delay is real time whatever
 * clock the engine has, and counts as work: whoever sends a part later waits for another step to
 * end, which no virtual clock brings about, so an advance may not pass it by.
 */
export class PageQueue implements Pages, Workplace {
  readonly #invocations: Invocations;
  readonly #deliveries: Deliveries<FanOutMessage>;

  constructor({
    invocations,
    concurrency,
    ...surroundings
  }: Surroundings & Readonly<{ invocations: Invocations; concurrency: number }>) {
    this.#invocations = invocations;
    this.#deliveries = new Deliveries<FanOutMessage>(surroundings, {
      concurrency,
      batch: 1,
      // The call that broadcasts to a few delivers to them itself: it has the first move.
      soon: setImmediate,
      nameOf: labelOf,
    });
    surroundings.activity.add(this);
  }

  get load(): number {
    return this.#deliveries.load;
  }

  get running(): number {
    return this.#deliveries.running;
  }

  async send(message: FanOutMessage, afterMs = 0): Promise<void> {
    this.#deliveries.add(message, afterMs);
  }

  consume(consumer: PageConsumer): void {
    this.#deliveries.start(async ([message], how) => [
      await this.#invocations.during({ mayContinue: false, ...how }, (invocation) =>
        consumer(message, invocation),
      ),
    ]);
  }

  stopDelivery(): void {
    this.#deliveries.stop();
  }

  left(): Iterable<Work> {
    return this.#deliveries.left();
  }
}
