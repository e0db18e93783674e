import {
  ChangeMessageVisibilityCommand,
  SendMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import type { Ids } from "../lib/ports/ids.ts";
import type { SourceQueue } from "./middleware/source-queue.ts";

export type SourceQueueOptions = Readonly<{
  client: SQSClient;
  ids: Ids;
  /** Of any queue of this installation: they differ in their names only. */
  siblingUrl: string;
  /** Of the queue whose function handles every kind of message, and which supports delays. */
  timersUrl: string;
  /** Absent in the function that reads dead letters: it may send nothing there. */
  deadLettersUrl?: string;
}>;

/** The queue that a record came from, whichever that is. */
export function sqsSourceQueue({
  client,
  ids,
  siblingUrl,
  timersUrl,
  deadLettersUrl,
}: SourceQueueOptions): SourceQueue {
  const urlOf = (record: SQSRecord) => new URL(queueName(record), siblingUrl).href;
  return {
    hide: async (record, seconds) => {
      await client.send(
        new ChangeMessageVisibilityCommand({
          QueueUrl: urlOf(record),
          ReceiptHandle: record.receiptHandle,
          VisibilityTimeout: seconds,
        }),
      );
    },
    sendLater: async (record, seconds) => {
      const copy = isFifo(queueName(record))
        ? // A FIFO queue cannot delay single messages, and its groups mean nothing elsewhere.
          { MessageBody: record.body, QueueUrl: timersUrl }
        : { ...copyOf(record), QueueUrl: urlOf(record) };
      await client.send(new SendMessageCommand({ ...copy, DelaySeconds: seconds }));
    },
    ...(deadLettersUrl !== undefined && {
      setAside: async (record: SQSRecord) => {
        // A FIFO queue needs a deduplication id; a new one, or it could drop this as a duplicate.
        const id = isFifo(deadLettersUrl) ? { MessageDeduplicationId: ids.fresh() } : {};
        const copy = { ...copyOf(record), ...id, QueueUrl: deadLettersUrl };
        await client.send(new SendMessageCommand(copy));
      },
    }),
  };
}

/** The name of the queue of a record. */
export function queueName({ eventSourceARN }: Pick<SQSRecord, "eventSourceARN">): string {
  return eventSourceARN.slice(eventSourceARN.lastIndexOf(":") + 1);
}

const isFifo = (nameOrUrl: string): boolean => nameOrUrl.endsWith(".fifo");

function copyOf({ body, attributes: { MessageGroupId } }: SQSRecord) {
  return { MessageBody: body, ...(MessageGroupId !== undefined && { MessageGroupId }) };
}
