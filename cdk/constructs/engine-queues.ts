import type { IGrantable } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { Construct } from "constructs";
import { EngineQueue } from "./engine-queue.ts";

/** The queues of an installation, by what they carry. */
export class EngineQueues extends Construct {
  /** Tasks that end within 45 seconds. */
  readonly tasks: EngineQueue;
  /** Tasks that take longer, up to a quarter of an hour. */
  readonly longTasks: EngineQueue;
  /** Timers that are due within the longest delay of a queue, and what the sweep found. */
  readonly timers: EngineQueue;
  /** Fan-outs, batches of multi-instance activities, offers of events, wake-ups of mailboxes. */
  readonly work: EngineQueue;
  /** Parked facts, in order for each instance. */
  readonly steps: EngineQueue;

  constructor(
    scope: Construct,
    id: string,
    { encryptionKey }: { encryptionKey: IKey | undefined },
  ) {
    super(scope, id);
    this.tasks = new EngineQueue(this, "Tasks", { encryptionKey, reader: "runTask" });
    // The function extends the visibility by a minute at a time: a crash is soon noticed.
    this.longTasks = new EngineQueue(this, "LongTasks", { encryptionKey, reader: "runLongTask" });
    this.timers = new EngineQueue(this, "Timers", { encryptionKey, reader: "fireTimer" });
    // Its first name stays as its id: by another id an update would replace the queue, messages and all.
    this.work = new EngineQueue(this, "Pages", { encryptionKey, reader: "fanOutSignal" });
    const inOrder = { inOrder: true } as const;
    this.steps = new EngineQueue(this, "Steps", { encryptionKey, reader: "advance", ...inOrder });
  }

  /** All of them by role. */
  byRole(): Readonly<Record<QueueRole, EngineQueue>> {
    const { tasks, longTasks, timers, work, steps } = this;
    return { tasks, longTasks, timers, work, steps };
  }

  /** Lets a function send what a step owes: any step may owe anything. */
  grantSend(grantee: IGrantable): void {
    for (const { queue } of Object.values(this.byRole())) queue.grantSend(grantee);
  }
}

export type QueueRole = "tasks" | "longTasks" | "timers" | "work" | "steps";
