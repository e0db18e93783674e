/** The queues of a deployment as operators see them: visibility timeouts and dead letters. */
import { LambdaClient, ListEventSourceMappingsCommand } from "@aws-sdk/client-lambda";
import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { onTestFinished } from "vitest";
import { target } from "./deployed.ts";

// A queue is identified by its URL alone; calls go to the usual endpoint.
export const sqs = new SQSClient({ region: target.region, useQueueUrlAsEndpoint: false });
export const lambda = new LambdaClient({ region: target.region });

/** The output of the stack with this name. */
export function output(name: string): string {
  const value = target.outputs[name];
  if (value === undefined) throw new Error(`The stack has no output ${name}.`);
  return value;
}

/** Sets a visibility timeout of a few seconds for a queue, until the test ends. */
export async function hidingFor(seconds: number, queueUrl: string): Promise<void> {
  const usual = await attributeOf(queueUrl, "VisibilityTimeout");
  await setVisibility(queueUrl, String(seconds));
  onTestFinished(() => setVisibility(queueUrl, usual));
}

/** The function that a queue triggers. */
export async function readerOf(queueUrl: string): Promise<string> {
  const EventSourceArn = await attributeOf(queueUrl, "QueueArn");
  const { EventSourceMappings: mappings = [] } = await lambda.send(
    new ListEventSourceMappingsCommand({ EventSourceArn }),
  );
  return mappings[0]?.FunctionArn ?? "";
}

/** The approximate number of messages in a queue. */
export async function depthOf(queueUrl: string): Promise<number> {
  return Number(await attributeOf(queueUrl, "ApproximateNumberOfMessages"));
}

/**
 * Moves dead letters back to their source queue, and returns how many. SQS has a call for it, which
 * not every emulator has: here it is done by hand.
 */
export async function redrive(from: string, to: string): Promise<number> {
  let moved = 0;
  for (;;) {
    const { Messages: found = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: from,
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: 1,
        MessageSystemAttributeNames: ["All"],
      }),
    );
    if (found.length === 0) return moved;
    for (const message of found) await move(message, from, to);
    moved += found.length;
  }
}

async function move(message: Message, from: string, to: string): Promise<void> {
  const group = message.Attributes?.MessageGroupId;
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: to,
      MessageBody: message.Body ?? "",
      ...(group !== undefined && { MessageGroupId: group }),
      ...(to.endsWith(".fifo") && { MessageDeduplicationId: crypto.randomUUID() }),
    }),
  );
  await sqs.send(
    new DeleteMessageCommand({ QueueUrl: from, ReceiptHandle: message.ReceiptHandle ?? "" }),
  );
}

async function attributeOf(
  queueUrl: string,
  name:
    | "VisibilityTimeout"
    | "ApproximateNumberOfMessages"
    | "ApproximateNumberOfMessagesNotVisible"
    | "QueueArn",
): Promise<string> {
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: [name] }),
  );
  return Attributes?.[name] ?? "0";
}

async function setVisibility(queueUrl: string, seconds: string): Promise<void> {
  await sqs.send(
    new SetQueueAttributesCommand({
      QueueUrl: queueUrl,
      Attributes: { VisibilityTimeout: seconds },
    }),
  );
}
