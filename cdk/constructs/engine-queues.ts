import type { IGrantable } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { Construct } from "constructs";
import { WorkQueue } from "./work-queue.ts";

/** The queues that carry an installation's steps, by what they carry. */
export class EngineQueues extends Construct {
  /** Tasks that end within 45 seconds. */
  readonly tasks: WorkQueue;
  /** Tasks that take longer, up to a quarter of an hour. */
  readonly longTasks: WorkQueue;
  /** Timers that fall due within the delay of a queue, and what the sweep found. */
  readonly timers: WorkQueue;
  /** Broadcasts, cut into pages of subscribers. */
  readonly pages: WorkQueue;
  /** Facts that wait their turn, in order for each instance. */
  readonly steps: WorkQueue;

  constructor(
    scope: Construct,
    id: string,
    { encryptionKey }: { encryptionKey: IKey | undefined },
  ) {
    super(scope, id);
    this.tasks = new WorkQueue(this, "Tasks", { encryptionKey, reader: "runTask" });
    // While the function works it holds a message for a minute at a time: one that dies is soon noticed.
    this.longTasks = new WorkQueue(this, "LongTasks", { encryptionKey, reader: "runLongTask" });
    this.timers = new WorkQueue(this, "Timers", { encryptionKey, reader: "fireTimer" });
    this.pages = new WorkQueue(this, "Pages", { encryptionKey, reader: "fanOutSignal" });
    const inOrder = { inOrder: true } as const;
    this.steps = new WorkQueue(this, "Steps", { encryptionKey, reader: "advance", ...inOrder });
  }

  /** All of them by role. */
  byRole(): Readonly<Record<QueueRole, WorkQueue>> {
    const { tasks, longTasks, timers, pages, steps } = this;
    return { tasks, longTasks, timers, pages, steps };
  }

  /** Lets a function send what a step owes: any step may owe anything. */
  grantSend(grantee: IGrantable): void {
    for (const { queue } of Object.values(this.byRole())) queue.grantSend(grantee);
  }
}

export type QueueRole = "tasks" | "longTasks" | "timers" | "pages" | "steps";
