// The queues on emulated SQS, whose clock stands still but for what the suites let pass.

import { SQSClient } from "@aws-sdk/client-sqs";
import { afterAll } from "vitest";
import { nodeIds } from "../../lib/adapters/node/ids.ts";
import { SqsPages } from "../../lib/adapters/sqs/pages.ts";
import { SqsParking } from "../../lib/adapters/sqs/parking.ts";
import { SqsTasks } from "../../lib/adapters/sqs/tasks.ts";
import { pagesContract } from "../contract/pages.contract.ts";
import { parkingContract } from "../contract/parking.contract.ts";
import { tasksContract } from "../contract/tasks.contract.ts";
import { emulated } from "../support/emulator.ts";
import { openStoppedQueue } from "../support/stopped-queue.ts";

const FAN_OUT = ["broadcast", "watch", "shard", "page", "offer"] as const;

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

pagesContract(
  "pages in SQS",
  async () => {
    const opened = await openStoppedQueue(client, FAN_OUT);
    const { queue, blobs } = opened;
    return { ...opened, pages: new SqsPages({ client, queueUrl: queue.url, blobs }) };
  },
  { runs: 10 },
);
