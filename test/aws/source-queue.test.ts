// What functions do with their source queue, on emulated SQS.

import {
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { currentTrace, formatTraceparent, inTrace } from "../../functions/middleware/trace.ts";
import { type SourceQueueOptions, sqsSourceQueue } from "../../functions/sqs-source-queue.ts";
import { traceMessages } from "../../functions/traced-messages.ts";
import { nodeIds } from "../../lib/adapters/node/ids.ts";
import { emulated } from "../support/emulator.ts";
import { aRecord } from "../support/queue-events.ts";
import { createQueue, type TestQueue } from "../support/sqs-queue.ts";

const client = traceMessages(new SQSClient(emulated()));
afterAll(() => client.destroy());

describe("the source queue of a message", () => {
  test("redelivers it at once when it is made visible", async () => {
    const queue = await aQueue();
    await send(queue, "hello");
    const record = recordOf(queue, await receive(queue));
    expect(await receive(queue)).toBeUndefined();

    await sourceOf(queue).hide(record, 0);

    expect((await receive(queue))?.Body).toBe("hello");
  });

  test("delays a copy", async () => {
    const queue = await aQueue();
    await send(queue, "hello");
    const record = recordOf(queue, await receive(queue));

    await sourceOf(queue).sendLater(record, 0);
    expect((await receive(queue))?.Body).toBe("hello");
    await sourceOf(queue).sendLater(record, 900);
    expect(await receive(queue)).toBeUndefined();
  });

  test("that is FIFO lets a copy wait in the timer queue", async () => {
    const queue = await aQueue({ fifo: true });
    const timers = await aQueue();
    const source = sourceOf(queue, { timersUrl: timers.url });
    const record = { ...aRecord("hello", { group: "one" }), eventSourceARN: queue.arn };

    await source.sendLater(record, 0);
    expect((await receive(timers))?.Body).toBe("hello");
    await source.sendLater(record, 900);

    expect(await receive(timers)).toBeUndefined();
    expect(await sizeOf(queue)).toBe(0);
  });

  test.each([false, true])("sets a copy aside (FIFO: %s)", async (fifo) => {
    const queue = await aQueue({ fifo });
    const deadLetters = await aQueue({ fifo });
    const source = sourceOf(queue, { deadLettersUrl: deadLetters.url });
    const record = aRecord("hello", { group: "one" });

    await source.setAside?.(record);
    // The same text again is another message.
    await source.setAside?.(record);

    expect(await sizeOf(deadLetters)).toBe(2);
    expect(await receive(deadLetters)).toMatchObject({
      Body: "hello",
      Attributes: { MessageGroupId: "one" },
    });
  });
});

describe("a message that a function sends", () => {
  test("carries its trace", async () => {
    const queue = await aQueue();

    const trace = await inTrace(undefined, async () => {
      await send(queue, "hello");
      return currentTrace();
    });

    const { MessageAttributes } = (await receive(queue)) ?? {};
    expect(MessageAttributes?.traceparent?.StringValue).toBe(trace && formatTraceparent(trace));
  });
});

async function aQueue(options: { fifo?: boolean } = {}): Promise<TestQueue> {
  const queue = await createQueue(client, options);
  onTestFinished(() => queue.drop());
  return queue;
}

function sourceOf(
  { url }: TestQueue,
  others: Partial<Pick<SourceQueueOptions, "timersUrl" | "deadLettersUrl">> = {},
) {
  return sqsSourceQueue({ client, ids: nodeIds(), siblingUrl: url, timersUrl: url, ...others });
}

async function send({ url }: TestQueue, text: string): Promise<void> {
  await client.send(new SendMessageCommand({ QueueUrl: url, MessageBody: text }));
}

async function sizeOf({ url }: TestQueue): Promise<number> {
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl: url,
      AttributeNames: ["ApproximateNumberOfMessages"],
    }),
  );
  return Number(Attributes?.ApproximateNumberOfMessages);
}

async function receive({ url }: TestQueue) {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: url,
      MessageAttributeNames: ["All"],
      MessageSystemAttributeNames: ["MessageGroupId"],
    }),
  );
  return Messages[0];
}

function recordOf({ arn }: TestQueue, message: Awaited<ReturnType<typeof receive>>) {
  const { Body = "", ReceiptHandle = "" } = message ?? {};
  return { ...aRecord(Body), receiptHandle: ReceiptHandle, eventSourceARN: arn };
}
