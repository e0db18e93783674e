import type { TaskMessage } from "../../ports/message.ts";
import type { TaskHandler, Tasks } from "../../ports/tasks.ts";
import { SimulatedQueue } from "./queue.ts";

/** A task queue in memory, delivered by the world, with the world's handlers. */
export class SimulatedTasks extends SimulatedQueue<TaskMessage> implements Tasks {
  readonly #handlers: ReadonlyMap<string, TaskHandler>;
  readonly #stopped: string[] = [];
  readonly #knowsWhatItHolds: boolean;

  constructor({
    handlers = new Map(),
    knowsWhatItHolds = false,
    ...queue
  }: ConstructorParameters<typeof SimulatedQueue<TaskMessage>>[0] &
    Readonly<{
      handlers?: ReadonlyMap<string, TaskHandler>;
      /** As queues in the memory of one process do; durable queues do not. */
      knowsWhatItHolds?: boolean;
    }>) {
    super(queue);
    this.#handlers = handlers;
    this.#knowsWhatItHolds = knowsWhatItHolds;
  }

  /** Tasks that were aborted, as `<instance>.<ticket>`, in order. */
  get stopped(): readonly string[] {
    return this.#stopped;
  }

  override send(message: TaskMessage): Promise<void> {
    return super.send(message, message.notBefore);
  }

  handlerOf(type: string): TaskHandler | undefined {
    return this.#handlers.get(type);
  }

  types(): readonly string[] {
    return [...this.#handlers.keys()];
  }

  holds(instanceId: string, ticket: string, attempt?: number): boolean {
    if (!this.#knowsWhatItHolds) return false;
    return this.all().some(
      ({ message }) =>
        message.instanceId === instanceId &&
        message.ticket === ticket &&
        (attempt === undefined || message.attempt === attempt),
    );
  }

  stop(instanceId: string, ticket: string): void {
    this.#stopped.push(`${instanceId}.${ticket}`);
  }
}
