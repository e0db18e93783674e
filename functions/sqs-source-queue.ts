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
  /** Absent in the function that wakes by dead letters. */
  deadLettersUrl?: string;
}>;

/** The queue that a record came from, whichever that is. */
export function sqsSourceQueue({
  client,
  ids,
  siblingUrl,
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
      const copy = { ...copyOf(record), QueueUrl: urlOf(record), DelaySeconds: seconds };
      await client.send(new SendMessageCommand(copy));
    },
    ...(deadLettersUrl !== undefined && {
      setAside: async (record: SQSRecord) => {
        // A FIFO queue wants an id for what it takes; anew, or it could take this for a double.
        const isFifo = deadLettersUrl.endsWith(".fifo");
        const id = isFifo ? { MessageDeduplicationId: ids.fresh() } : {};
        const copy = { ...copyOf(record), ...id, QueueUrl: deadLettersUrl };
        await client.send(new SendMessageCommand(copy));
      },
    }),
  };
}

/** The name of the queue that brought a record. */
export function queueName({ eventSourceARN }: Pick<SQSRecord, "eventSourceARN">): string {
  return eventSourceARN.slice(eventSourceARN.lastIndexOf(":") + 1);
}

function copyOf({ body, attributes: { MessageGroupId } }: SQSRecord) {
  return { MessageBody: body, ...(MessageGroupId !== undefined && { MessageGroupId }) };
}
