import { Duration } from "aws-cdk-lib";
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
    const short = { encryptionKey, visibilityTimeout: Duration.seconds(90) };
    this.tasks = new WorkQueue(this, "Tasks", short);
    // The function renews its hold on a message while it works: this is for one that died at once.
    const long = { encryptionKey, visibilityTimeout: Duration.seconds(960) };
    this.longTasks = new WorkQueue(this, "LongTasks", long);
    this.timers = new WorkQueue(this, "Timers", short);
    this.pages = new WorkQueue(this, "Pages", short);
    this.steps = new WorkQueue(this, "Steps", { ...short, inOrder: true });
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
