/** A user's own queue beside a deployment, as its owner sees it. */
import {
  DeleteMessageCommand,
  GetQueueUrlCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SetQueueAttributesCommand,
} from "@aws-sdk/client-sqs";
import type { E2E_QUEUES } from "../../scripts/deployment/e2e-queues.ts";
import { eventually, target } from "./deployed.ts";
import { sqs } from "./deployed-queues.ts";

/** A task as a queue message. */
export type QueuedTask = Readonly<{
  taskId: string;
  type: string;
  instanceId: string;
  element: string;
  variables: Readonly<Record<string, unknown>>;
  attempt: number;
  retries: number;
  idempotencyKey: string;
}>;

/** The ARN of one of the queues that the installation was deployed with. */
export function ownQueueArn(name: keyof typeof E2E_QUEUES): string {
  const arns = target.context.taskQueues?.split(",") ?? [];
  const arn = arns.find((each) => each.endsWith(`-${name}`));
  if (arn === undefined) throw new Error(`The installation has no queue ${name}.`);
  return arn;
}

/** The next message with a task of this type, and how to delete it. Others are left from before. */
export async function receiveTask(
  queueArn: string,
  type: string,
): Promise<Readonly<{ task: QueuedTask; raw: string; remove: () => Promise<void> }>> {
  const QueueUrl = await urlOf(queueArn);
  return eventually(`a task of type ${type} in ${queueArn}`, async () => {
    const { Messages: [message] = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 1, WaitTimeSeconds: 1 }),
    );
    if (message === undefined) return undefined;
    const { Body: raw = "", ReceiptHandle } = message;
    const task: QueuedTask = JSON.parse(raw);
    const remove = async () => {
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    };
    if (task.type === type) return { task, raw, remove };
    await remove();
    return undefined;
  });
}

/** Removes everything from it, as after its retention. */
export async function purge(queueArn: string): Promise<void> {
  await sqs.send(new PurgeQueueCommand({ QueueUrl: await urlOf(queueArn) }));
}

/** Denies sending to the queue, or allows it again. */
export async function shut(queueArn: string, isShut: boolean): Promise<void> {
  const Statement = [
    { Effect: "Deny", Principal: "*", Action: "sqs:SendMessage", Resource: queueArn },
  ];
  const Policy = isShut ? JSON.stringify({ Version: "2012-10-17", Statement }) : "";
  await sqs.send(
    new SetQueueAttributesCommand({ QueueUrl: await urlOf(queueArn), Attributes: { Policy } }),
  );
}

async function urlOf(queueArn: string): Promise<string> {
  const QueueName = queueArn.split(":").at(-1);
  const { QueueUrl = "" } = await sqs.send(new GetQueueUrlCommand({ QueueName }));
  return QueueUrl;
}
