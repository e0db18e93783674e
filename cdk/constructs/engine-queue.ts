import { Duration } from "aws-cdk-lib";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { DeduplicationScope, FifoThroughputLimit } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { DeadLetterQueue, SecuredQueue } from "./secured-queue.ts";
import { type TimedFunction, visibilityFor } from "./timeouts.ts";

/** A message that was received this often without success goes to the dead letters. */
const MAX_RECEIVES = 10;

/**
 * Below the dead letters' own 14 days: in a standard queue a message keeps its age when it moves
 * there, and an operator needs days to look at it. In a FIFO queue its age starts over, and it
 * lives for 24 days; a redrive starts all of this over. Bodies in the bucket outlive that.
 */
const RETENTION = Duration.days(10);

/** High throughput: order and deduplication are kept per group, which is one instance. */
const FIFO = {
  fifo: true,
  deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
  fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
};

export type EngineQueueProps = Readonly<{
  encryptionKey: IKey | undefined;
  /** The function that it triggers. */
  reader: TimedFunction;
  /** In order for each instance. */
  inOrder?: true;
}>;

/** A queue that triggers a function, with its dead letters. */
export class EngineQueue extends Construct {
  readonly queue: SecuredQueue;
  readonly deadLetters: DeadLetterQueue;

  constructor(scope: Construct, id: string, props: EngineQueueProps) {
    super(scope, id);
    const { encryptionKey, reader, inOrder } = props;
    const order = inOrder === true ? FIFO : {};
    this.deadLetters = new DeadLetterQueue(this, "DeadLetters", {
      encryptionKey,
      visibilityTimeout: visibilityFor("deadLetters"),
      ...order,
    });
    this.queue = new SecuredQueue(this, "Queue", {
      encryptionKey,
      visibilityTimeout: visibilityFor(reader),
      retentionPeriod: RETENTION,
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: MAX_RECEIVES },
      ...order,
    });
  }
}
