// A queue of the emulator, and a consumer of it that handles verdicts as a function does.

import { randomUUID } from "node:crypto";
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteQueueCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { Verdict } from "../../lib/ports/message.ts";

export type TestQueue = Readonly<{
  url: string;
  arn: string;
  /**
   * Delivers what is visible until nothing is; what fails is redelivered after its visibility
   * timeout.
   */
  drain(consumer: (bodies: readonly string[]) => Promise<readonly Verdict[]>): Promise<void>;
  drop(): Promise<void>;
}>;

/** How long a message is hidden from others while it is handled. */
const VISIBILITY_SECONDS = 30;

export async function createQueue(client: SQSClient, { fifo = false } = {}): Promise<TestQueue> {
  const name = `q-${randomUUID()}${fifo ? ".fifo" : ""}`;
  const Attributes = {
    VisibilityTimeout: String(VISIBILITY_SECONDS),
    ...(fifo && HIGH_THROUGHPUT),
  };
  const { QueueUrl: url = "" } = await client.send(
    new CreateQueueCommand({ QueueName: name, Attributes }),
  );
  return {
    url,
    arn: `arn:aws:sqs:us-east-1:000000000000:${name}`,
    async drain(consumer) {
      for (;;) {
        const groups = await receive(client, url, fifo);
        if (groups.length === 0) return;
        const done: Message[] = [];
        for (const group of groups) done.push(...(await handOver(client, url, group, consumer)));
        await remove(client, url, done);
      }
    },
    drop: async () => void (await client.send(new DeleteQueueCommand({ QueueUrl: url }))),
  };
}

const HIGH_THROUGHPUT = {
  FifoQueue: "true",
  DeduplicationScope: "messageGroup",
  FifoThroughputLimit: "perMessageGroupId",
};

/** One by one, or those of a group together. */
async function receive(
  client: SQSClient,
  url: string,
  fifo: boolean,
): Promise<readonly (readonly Message[])[]> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: url,
      MaxNumberOfMessages: 10,
      MessageSystemAttributeNames: ["MessageGroupId"],
    }),
  );
  const groups = Map.groupBy(Messages, ({ MessageId, Attributes }) =>
    fifo ? Attributes?.MessageGroupId : MessageId,
  );
  return [...groups.values()];
}

/** Keeps what is to be kept, and returns what may be deleted. */
async function handOver(
  client: SQSClient,
  url: string,
  messages: readonly Message[],
  consumer: (bodies: readonly string[]) => Promise<readonly Verdict[]>,
): Promise<readonly Message[]> {
  const verdicts = await consumer(messages.map(({ Body = "" }) => Body)).catch(() => []);
  for (const [n, verdict] of verdicts.entries()) {
    if (verdict === "release") continue;
    const handle = { QueueUrl: url, ReceiptHandle: messages[n]?.ReceiptHandle };
    const VisibilityTimeout = Math.ceil(verdict.keepForMs / 1_000);
    await client.send(new ChangeMessageVisibilityCommand({ ...handle, VisibilityTimeout }));
  }
  return messages.filter((_, n) => verdicts[n] === "release");
}

async function remove(client: SQSClient, url: string, done: readonly Message[]): Promise<void> {
  if (done.length === 0) return;
  const Entries = done.map(({ ReceiptHandle }, n) => ({ Id: String(n), ReceiptHandle }));
  await client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }));
}
