import type { Invocation, Verdict, WorkMessage } from "../../ports/message.ts";
import { labelOf } from "../../ports/message-kinds.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";
import type { Work, Workplace } from "./activity.ts";
import { Deliveries, type Surroundings } from "./deliveries.ts";
import type { Invocations } from "./invocations.ts";

/** Messages handled at a time by default; each handles many rows itself. */
export const DEFAULT_WORK_AT_ONCE = 4;

/** Handles one message of the work queue. */
export type WorkConsumer = (message: WorkMessage, invocation: Invocation) => Promise<Verdict>;

/**
 * The work queue in memory; no message waits for another. A delay is real time whatever clock the
 * engine has, and counts as work: a delayed message waits for another step to end, which no virtual
 * clock brings about, so an advance must not skip it.
 */
export class LocalWorkQueue implements WorkQueue, Workplace {
  readonly #invocations: Invocations;
  readonly #deliveries: Deliveries<WorkMessage>;

  constructor({
    invocations,
    concurrency,
    ...surroundings
  }: Surroundings & Readonly<{ invocations: Invocations; concurrency: number }>) {
    this.#invocations = invocations;
    this.#deliveries = new Deliveries<WorkMessage>(surroundings, {
      concurrency,
      batch: 1,
      // A call that broadcasts to a few waits delivers to them itself, so it runs first.
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

  async send(message: WorkMessage, afterMs = 0): Promise<void> {
    this.#deliveries.add(message, afterMs);
  }

  consume(consumer: WorkConsumer): void {
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
