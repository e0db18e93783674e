import type { Instant } from "../../definition/time/instant.ts";
import type { Invocation, TaskMessage, Verdict } from "../../ports/message.ts";
import { labelOf } from "../../ports/message-kinds.ts";
import type { TaskHandler, Tasks } from "../../ports/tasks.ts";
import type { Work, Workplace } from "./activity.ts";
import type { Agenda, Waiting } from "./agenda.ts";
import { Deliveries, type Surroundings } from "./deliveries.ts";
import { DueHeap } from "./due-heap.ts";
import type { Invocations } from "./invocations.ts";

export type TaskConsumer = (message: TaskMessage, invocation: Invocation) => Promise<Verdict>;

/** The task handlers that are running in this process. */
export interface RunningHandlers {
  /** Handlers that were abandoned, because they were still running at the shutdown. */
  readonly abandoned: number;
  /** Aborts the handlers of a ticket; their results are ignored. */
  stop(instanceId: string, ticket: string): void;
  /** Aborts all of them. No outcome is reported from here on. */
  shutDown(): void;
}

/** Queues attempts in memory and holds the handlers of this process. */
export class TaskQueue implements Tasks, Waiting, Workplace {
  readonly #agenda: Agenda;
  readonly #invocations: Invocations;
  readonly #handlers: ReadonlyMap<string, TaskHandler>;
  readonly #runs: Pick<RunningHandlers, "stop">;
  readonly #deliveries: Deliveries<TaskMessage>;
  readonly #delayed = new DueHeap<TaskMessage>();
  readonly #held = new Map<string, number>();

  constructor({
    invocations,
    handlers,
    runs,
    concurrency,
    ...surroundings
  }: Surroundings &
    Readonly<{
      invocations: Invocations;
      handlers: ReadonlyMap<string, TaskHandler>;
      runs: Pick<RunningHandlers, "stop">;
      concurrency: number;
    }>) {
    this.#agenda = surroundings.agenda;
    this.#invocations = invocations;
    this.#handlers = handlers;
    this.#runs = runs;
    this.#deliveries = new Deliveries<TaskMessage>(surroundings, {
      concurrency,
      batch: 1,
      // A start sends its task before it commits. The commit must be in flight when the task loads
      // the instance: an earlier task would create the same instance a second time.
      soon: setImmediate,
      nameOf: labelOf,
      onReleased: (message) => this.#let(message),
    });
    surroundings.activity.add(this);
    surroundings.agenda.add(this);
  }

  get load(): number {
    return this.#deliveries.load;
  }

  get running(): number {
    return this.#deliveries.running;
  }

  async send(message: TaskMessage): Promise<void> {
    for (const name of namesOf(message)) this.#held.set(name, (this.#held.get(name) ?? 0) + 1);
    const { notBefore } = message;
    if (notBefore === undefined || notBefore <= this.#agenda.now()) {
      this.#deliveries.add(message);
      return;
    }
    this.#delayed.add(message, notBefore);
    this.#agenda.look();
  }

  handlerOf(type: string): TaskHandler | undefined {
    return this.#handlers.get(type);
  }

  types(): readonly string[] {
    return [...this.#handlers.keys()];
  }

  stop(instanceId: string, ticket: string): void {
    this.#runs.stop(instanceId, ticket);
  }

  consume(consumer: TaskConsumer): void {
    this.#deliveries.start(async ([message], how) => [
      await this.#invocations.during({ mayContinue: true, ...how }, (invocation) =>
        consumer(message, invocation),
      ),
    ]);
  }

  stopDelivery(): void {
    this.#deliveries.stop();
  }

  /** Whether a message for this ticket, or for this attempt, is delayed, queued or running. */
  holds(instanceId: string, ticket: string, attempt?: number): boolean {
    return this.#held.has(nameOf(instanceId, ticket, attempt));
  }

  left(): Iterable<Work> {
    return this.#deliveries.left();
  }

  nextDue(): Instant | undefined {
    return this.#delayed.earliest;
  }

  wake(now: Instant): void {
    for (;;) {
      const due = this.#delayed.takeDue(now);
      if (due === undefined) return;
      this.#deliveries.add(due.item);
    }
  }

  #let(message: TaskMessage): void {
    for (const name of namesOf(message)) {
      const count = this.#held.get(name) ?? 0;
      if (count > 1) this.#held.set(name, count - 1);
      else this.#held.delete(name);
    }
  }
}

/** A message counts for its ticket, and for its attempt. */
const namesOf = ({ instanceId, ticket, attempt }: TaskMessage): readonly string[] => [
  nameOf(instanceId, ticket),
  nameOf(instanceId, ticket, attempt),
];

const nameOf = (instanceId: string, ticket: string, attempt?: number): string =>
  attempt === undefined ? `${instanceId}\0${ticket}` : `${instanceId}\0${ticket}\0${attempt}`;
