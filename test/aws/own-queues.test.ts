// A user's own queues on emulated SQS, whose clock moves only when the suites let time pass.

import {
  CreateQueueCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  ReceiveMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { afterAll, describe, expect, test } from "vitest";
import { SqsOwnQueues } from "../../lib/adapters/sqs/own-queues.ts";
import { ownQueuesContract } from "../contract/own-queues.contract.ts";
import { inARow } from "../cost/workflows.ts";
import { extensions, job, xml } from "../support/bpmn-xml.ts";
import { emulated, stopTime } from "../support/emulator.ts";
import { aPlainWorld } from "../support/plain-world.ts";

const client = new SQSClient(emulated());
afterAll(() => client.destroy());

const fresh = () => `own-${crypto.randomUUID()}`;
const arnOf = (name: string, region = "us-east-1", account = "000000000000") =>
  `arn:aws:sqs:${region}:${account}:${name}`;

ownQueuesContract("queues of a user in SQS", async () => {
  const time = await stopTime();
  const [one, other, narrow, untold] = [fresh(), fresh(), fresh(), fresh()];
  const fifo = `${fresh()}.fifo`;
  const urls = await Promise.all([
    create(one),
    create(other),
    create(narrow, { MaximumMessageSize: "2048" }),
    create(untold),
    create(fifo, { FifoQueue: "true", ContentBasedDeduplication: "true" }),
  ]);
  const good = { one: arnOf(one), other: arnOf(other), narrow: arnOf(narrow) };
  const bad = {
    gone: arnOf(fresh()),
    fifo: arnOf(fifo),
    // A queue of that name exists here, and must not get what is meant for the other.
    elsewhere: arnOf(one, "eu-central-1"),
    ofStrangers: arnOf(one, "us-east-1", "111111111111"),
  };
  const allowed = [...Object.values(good), ...Object.values(bad)];
  return {
    queues: new SqsOwnQueues({ client, allowed }),
    arns: { ...good, ...bad, untold: arnOf(untold) },
    receive,
    pass: (ms) => time.pass(ms, async () => {}),
    close: async () => {
      for (const QueueUrl of urls) await client.send(new DeleteQueueCommand({ QueueUrl }));
      await time.goOn();
    },
  };
});

describe("a user's own queue in SQS", () => {
  test("refuses after it is deleted, and accepts again once it is back", async () => {
    const name = fresh();
    const QueueUrl = await create(name);
    const queues = new SqsOwnQueues({ client, allowed: [arnOf(name)] });
    const answers = [await queues.send(arnOf(name), "1", 0)];

    await client.send(new DeleteQueueCommand({ QueueUrl }));
    answers.push(await queues.send(arnOf(name), "2", 0));
    const problem = await queues.problemOf(arnOf(name));
    await create(name);
    answers.push(await queues.send(arnOf(name), "3", 0));

    expect(answers).toEqual(["sent", "refused", "sent"]);
    expect(problem).toContain("QueueDoesNotExist");
    expect(await receive(arnOf(name))).toEqual(["3"]);
  });

  test("delays every message for the configured time", async () => {
    const time = await stopTime();
    const name = fresh();
    await create(name, { DelaySeconds: "30" });
    const queues = new SqsOwnQueues({ client, allowed: [arnOf(name)] });

    await queues.send(arnOf(name), "task", 0);
    const [before] = await receive(arnOf(name));
    await time.pass(30_000, async () => {});
    const [after] = await receive(arnOf(name));
    await time.goOn();

    expect([before, after]).toEqual([undefined, "task"]);
  });

  test("F67 gets the same task as a poll, whose result ends the instance; refused ones are polled for", async () => {
    const [name, narrow] = [fresh(), fresh()];
    await create(name);
    await create(narrow, { MaximumMessageSize: "1024" });
    const ownQueues = new SqsOwnQueues({ client, allowed: [arnOf(name), arnOf(narrow)] });
    const { engine, drain } = aPlainWorld({ ownQueues });
    const source = inARow("p", [aTask("work"), aTask("more")]);
    await engine.deploy({ notation: "bpmn", source });
    await engine.setTaskType("work", { queueArn: arnOf(name) });
    await engine.setTaskType("more", { queueArn: arnOf(narrow) });

    const variables = { text: "é 🙂 \uFFFF".repeat(200) };
    const { instanceId } = await engine.start("p", { variables });
    await drain();
    const [body = ""] = await receive(arnOf(name));
    const { taskId } = JSON.parse(body);
    await engine.completeTask(taskId, { variables: { done: true } });
    await drain();
    const poll = { type: "more", max: 1, lockSeconds: 30, worker: "w" };
    const [polled] = (await engine.activate(poll)).tasks;
    await engine.completeTask(polled?.taskId ?? "", { lockToken: polled?.lockToken ?? "" });
    await drain();

    expect(JSON.parse(body)).toMatchObject({ type: "work", instanceId, attempt: 1, variables });
    expect(await receive(arnOf(narrow))).toEqual([]);
    expect(await engine.get(instanceId)).toMatchObject({ status: "succeeded" });
  });
});

const aTask = (type: string) => xml("serviceTask", { id: type }, extensions(job(type)));

async function create(QueueName: string, Attributes: Record<string, string> = {}): Promise<string> {
  const { QueueUrl = "" } = await client.send(new CreateQueueCommand({ QueueName, Attributes }));
  return QueueUrl;
}

/** Everything that can be received now; it is deleted. */
async function receive(queueArn: string): Promise<readonly string[]> {
  const QueueUrl = `${emulated().endpoint}/000000000000/${queueArn.split(":").at(-1)}`;
  const bodies: string[] = [];
  for (;;) {
    const asked = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 });
    const { Messages = [] } = await client.send(asked);
    if (Messages.length === 0) return bodies;
    for (const { Body = "", ReceiptHandle } of Messages) {
      bodies.push(Body);
      await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
  }
}
