// The queues on emulated SQS, whose clock moves only when the suites let time pass.

import { SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, describe, expect, test } from "vitest";
import { nodeIds } from "../../lib/adapters/node/ids.ts";
import { SqsParking } from "../../lib/adapters/sqs/parking.ts";
import { SqsTasks } from "../../lib/adapters/sqs/tasks.ts";
import { TimerQueue } from "../../lib/adapters/sqs/timer-queue.ts";
import { SqsWorkQueue } from "../../lib/adapters/sqs/work-queue.ts";
import type { Message, ParkedMessage, TaskMessage } from "../../lib/ports/message.ts";
import type { Usage } from "../../lib/ports/meter.ts";
import type { TaskHandler } from "../../lib/ports/tasks.ts";
import { parkingContract } from "../contract/parking.contract.ts";
import { tasksContract } from "../contract/tasks.contract.ts";
import { workQueueContract } from "../contract/work-queue.contract.ts";
import { emulated } from "../support/emulator.ts";
import { openStoppedQueue } from "../support/stopped-queue.ts";

const FAN_OUT = ["broadcast", "watch", "shard", "page", "offer", "poke"] as const;

const client = new SQSClient(emulated());
afterAll(() => client.destroy());

tasksContract("tasks in SQS", async (handlers) => {
  const opened = await openStoppedQueue(client, ["task"]);
  const { queue, blobs, clock } = opened;
  const queues = { tasks: queue.url, longTasks: queue.url };
  const tasks = new SqsTasks({ client, queues, handlers, blobs, clock });
  // A message is delayed by whole seconds.
  return { ...opened, tasks, resolutionMs: 1_000 };
});

parkingContract("parking in a FIFO queue of SQS", async () => {
  const opened = await openStoppedQueue(client, ["parked", "owed", "look"], { fifo: true });
  const { queue, blobs, consumeBatches } = opened;
  const parking = new SqsParking({ client, queueUrl: queue.url, ids: nodeIds(), blobs });
  return { ...opened, parking, consume: consumeBatches };
});

workQueueContract(
  "the work queue in SQS",
  async () => {
    const opened = await openStoppedQueue(client, FAN_OUT);
    const { queue, blobs } = opened;
    return { ...opened, queue: new SqsWorkQueue({ client, queueUrl: queue.url, blobs }) };
  },
  { runs: 5 },
);

describe("a message for SQS", () => {
  test("that is too large for the queue arrives whole", async () => {
    const opened = await openStoppedQueue(client, ["parked"], { fifo: true });
    const { queue, blobs } = opened;
    const used: Usage[] = [];
    const parking = new SqsParking({
      client,
      queueUrl: queue.url,
      ids: nodeIds(),
      blobs,
      meter: (usage) => used.push(usage),
    });
    const message = aParked("x".repeat(2_000_000));
    const arrived: Message[] = [];
    opened.consume(async (each) => {
      arrived.push(each);
      return "release";
    });

    await parking.park(message);
    await opened.pass(0);
    await opened.close();

    expect(arrived).toEqual([message]);
    expect(used).toEqual([{ of: "sqs-fifo", requests: 1, queue: nameOf(queue.url) }]);
  });

  test("goes to the queue of long tasks when its handler may take longer than 45 s", async () => {
    const short = await openStoppedQueue(client, ["task"]);
    const long = await openStoppedQueue(client, ["task"]);
    const queues = { tasks: short.queue.url, longTasks: long.queue.url };
    const handlers = new Map([45_000, 45_001].map((ms) => [`of-${ms}`, aHandler(ms)]));
    const { blobs, clock } = short;
    const tasks = new SqsTasks({ client, queues, handlers, blobs, clock });
    const arrived: string[] = [];
    for (const [name, { consume }] of Object.entries({ short, long })) {
      consume(async ({ type }) => {
        arrived.push(`${name} ${type}`);
        return "release";
      });
    }

    for (const type of ["of-45000", "of-45001", "of-nobody"]) await tasks.send(aTask(type));
    await short.pass(0);
    await long.pass(0);
    await Promise.all([short.close(), long.close()]);

    expect(arrived.toSorted()).toEqual(["long of-45001", "short of-45000", "short of-nobody"]);
  });

  test("is counted by the 64 KB that it begins", async () => {
    const opened = await openStoppedQueue(client, ["timer"]);
    const used: Usage[] = [];
    const meter = (usage: Usage) => used.push(usage);
    const timers = new TimerQueue({ client, queueUrl: opened.queue.url, meter });
    const aTimer = (ticket: string) =>
      ({ kind: "timer", tenant: "default", instanceId: "order-1", ticket }) as const;

    await timers.send(aTimer("t1.1"), 0);
    await timers.send(aTimer("x".repeat(65_536)), 0);
    await opened.close();

    const queue = nameOf(opened.queue.url);
    expect(used).toEqual([
      { of: "sqs", requests: 1, queue },
      { of: "sqs", requests: 2, queue },
    ]);
  });
});

function nameOf(queueUrl: string): string {
  return queueUrl.split("/").at(-1) ?? "";
}

function aParked(text: string): ParkedMessage {
  const fact = { kind: "task-completed", ticket: "k1.1", variables: { text } } as const;
  return { kind: "parked", tenant: "default", instanceId: "order-1", name: "k1.1", fact };
}

function aTask(type: string): TaskMessage {
  const instance = { tenant: "default", instanceId: "order-1" };
  return { kind: "task", ...instance, ticket: "k1.1", attempt: 1, type };
}

function aHandler(timeoutMs: number): TaskHandler {
  const run = async () => ({ kind: "completed", variables: {} }) as const;
  return { timeoutMs, isolate: false, exclusive: false, run };
}
