import type {
  Invocation,
  LookMessage,
  OwedMessage,
  ParkedMessage,
  Verdict,
} from "../../ports/message.ts";
import type { Parking } from "../../ports/parking.ts";
import type { Work, Workplace } from "./activity.ts";
import { Deliveries, type Surroundings } from "./deliveries.ts";
import type { Invocations } from "./invocations.ts";

/** Parked messages of one instance that are handled in one step. */
export const MAX_PARKED_BATCH = 10;

type Parked = ParkedMessage | OwedMessage | LookMessage;

/** Handles parked messages of one instance; the verdicts are in their order. */
export type ParkedConsumer = (
  messages: readonly Parked[],
  invocation: Invocation,
) => Promise<readonly Verdict[]>;

/** Parks in memory: in order for each instance, several instances at a time. */
export class ParkingQueue implements Parking, Workplace {
  readonly #invocations: Invocations;
  readonly #deliveries: Deliveries<Parked>;

  constructor({
    invocations,
    concurrency,
    ...surroundings
  }: Surroundings & Readonly<{ invocations: Invocations; concurrency: number }>) {
    this.#invocations = invocations;
    this.#deliveries = new Deliveries(surroundings, {
      concurrency,
      batch: MAX_PARKED_BATCH,
      laneOf: ({ tenant, instanceId }) => `${tenant}\0${instanceId}`,
      nameOf: nameOfParked,
    });
    surroundings.activity.add(this);
  }

  get load(): number {
    return this.#deliveries.load;
  }

  get running(): number {
    return this.#deliveries.running;
  }

  async park(message: Parked): Promise<void> {
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

function nameOfParked(message: Parked): string {
  return `${whatOf(message)} of instance ${message.instanceId}`;
}

function whatOf(message: Parked): string {
  switch (message.kind) {
    case "parked":
      return `parked ${message.fact.kind} ${message.name}`;
    case "owed":
      return `what is owed by ${message.name}`;
    case "look":
      return `re-check of ${message.ticket}`;
  }
}
