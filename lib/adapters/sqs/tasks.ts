import type { SQSClient } from "@aws-sdk/client-sqs";
import type { Blobs } from "../../ports/blobs.ts";
import type { Clock } from "../../ports/clock.ts";
import type { TaskMessage } from "../../ports/message.ts";
import type { Meter } from "../../ports/meter.ts";
import type { TaskHandler, Tasks } from "../../ports/tasks.ts";
import { packMessage } from "./body.ts";
import { send } from "./send.ts";

/** The longest timeout of a task that fits into an invocation of the ordinary task function. */
const SHORT_TASK_MS = 45_000;

type Options = Readonly<{
  client: SQSClient;
  /** Their URLs. Long tasks have a queue whose function has a longer timeout. */
  queues: Readonly<{ tasks: string; longTasks: string }>;
  handlers: ReadonlyMap<string, TaskHandler>;
  blobs: Blobs;
  clock: Clock;
  /** Aborts the handlers of a ticket that are running in this process. */
  stop?: (instanceId: string, ticket: string) => void;
  meter?: Meter;
}>;

/** Queues attempts in SQS. */
export class SqsTasks implements Tasks {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async send(message: TaskMessage): Promise<void> {
    const { client, blobs, clock, meter } = this.#options;
    const { tenant, notBefore } = message;
    const body = await packMessage(message, blobs);
    const afterMs = notBefore === undefined ? 0 : notBefore - clock.now();
    const queueUrl = this.#queueOf(message.type);
    await send({ client, queueUrl, meter }, { body, group: tenant, afterMs });
  }

  handlerOf(type: string): TaskHandler | undefined {
    return this.#options.handlers.get(type);
  }

  types(): readonly string[] {
    return [...this.#options.handlers.keys()];
  }

  /** The contents of an SQS queue cannot be looked up. */
  holds(): boolean {
    return false;
  }

  stop(instanceId: string, ticket: string): void {
    this.#options.stop?.(instanceId, ticket);
  }

  #queueOf(type: string): string {
    const { queues } = this.#options;
    const isLong = (this.handlerOf(type)?.timeoutMs ?? 0) > SHORT_TASK_MS;
    return isLong ? queues.longTasks : queues.tasks;
  }
}
