import type { AnyParked, Invocation, Verdict } from "../../ports/message.ts";
import { labelOf } from "../../ports/message-kinds.ts";
import type { Parking } from "../../ports/parking.ts";
import type { Work, Workplace } from "./activity.ts";
import { Deliveries, type Surroundings } from "./deliveries.ts";
import type { Invocations } from "./invocations.ts";

/** Parked messages of one instance that are handled in one step. */
export const MAX_PARKED_BATCH = 10;

/** Handles parked messages of one instance; the verdicts are in their order. */
export type ParkedConsumer = (
  messages: readonly AnyParked[],
  invocation: Invocation,
) => Promise<readonly Verdict[]>;

/** Parks in memory: in order for each instance, several instances at a time. */
export class ParkingQueue implements Parking, Workplace {
  readonly #invocations: Invocations;
  readonly #deliveries: Deliveries<AnyParked>;

  constructor({
    invocations,
    concurrency,
    ...surroundings
  }: Surroundings & Readonly<{ invocations: Invocations; concurrency: number }>) {
    this.#invocations = invocations;
    this.#deliveries = new Deliveries<AnyParked>(surroundings, {
      concurrency,
      batch: MAX_PARKED_BATCH,
      laneOf: ({ tenant, instanceId }) => `${tenant}\0${instanceId}`,
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

  async park(message: AnyParked): Promise<void> {
    this.#deliveries.add(message);
  }

  consume(consumer: ParkedConsumer): void {
    this.#deliveries.start((messages, how) =>
      this.#invocations.during({ mayContinue: false, ...how }, (invocation) =>
        consumer(messages, invocation),
      ),
    );
  }

  stopDelivery(): void {
    this.#deliveries.stop();
  }

  left(): Iterable<Work> {
    return this.#deliveries.left();
  }
}
