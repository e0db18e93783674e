// The bus on emulated EventBridge, with the rule that delivers broadcasts to the work queue.

import { randomUUID } from "node:crypto";
import {
  CreateEventBusCommand,
  DeleteEventBusCommand,
  DeleteRuleCommand,
  EventBridgeClient,
  PutEventsCommand,
  PutRuleCommand,
  PutTargetsCommand,
  RemoveTargetsCommand,
} from "@aws-sdk/client-eventbridge";
import { SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, describe, expect, test } from "vitest";
import { EventBridgeBus } from "../../lib/adapters/eventbridge/bus.ts";
import { parseText, traceparentIn } from "../../lib/adapters/sqs/wire.ts";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import type { Announcement, Broadcast } from "../../lib/ports/bus.ts";
import type { Usage } from "../../lib/ports/meter.ts";
import { busContract } from "../contract/bus.contract.ts";
import { emulated } from "../support/emulator.ts";
import { createQueue, type TestQueue } from "../support/sqs-queue.ts";
import { openStoppedQueue } from "../support/stopped-queue.ts";

const sqs = new SQSClient(emulated());
const client = new EventBridgeClient(emulated());
const clock = { pause: async () => {} };
afterAll(() => {
  sqs.destroy();
  client.destroy();
});

busContract(
  "the bus on EventBridge",
  async () => {
    const opened = await openStoppedQueue(sqs, ["broadcast"]);
    const { busName, drop } = await createBus("signal-accepted", opened.queue);
    return {
      ...opened,
      bus: new EventBridgeBus({ client, busName, announces: true, clock }),
      async close() {
        await drop();
        await opened.close();
      },
    };
  },
  { runs: 5 },
);

describe("an event on the bus", () => {
  test("tells subscribers what was broadcast, and never its payload", async () => {
    const [event] = await heard("signal-accepted", (bus) => bus.publish(aBroadcast));

    expect(event).toMatchObject({
      source: "fermata",
      detail: {
        id: "b1",
        topic: { kind: "signal", name: "approved" },
        seq: 42,
        at: Date.UTC(2030, 0, 1),
      },
    });
    expect(Object.keys(detailOf(event)).toSorted()).toEqual(
      ["at", "broadcastId", "id", "kind", "seq", "tenant", "topic", "v"].toSorted(),
    );
  });

  test("carries the trace of the broadcast for the fan-out", async () => {
    const queue = await createQueue(sqs);
    const { busName, drop } = await createBus("signal-accepted", queue);
    const traceparent = () => "00-a-b-01";
    const bus = new EventBridgeBus({ client, busName, announces: true, clock, traceparent });

    await bus.publish(aBroadcast);
    const bodies = await bodiesOf(queue);
    await drop();
    await queue.drop();

    expect(bodies.map(traceparentIn)).toEqual(["00-a-b-01"]);
    expect(bodies.map((body) => parseText(body))).toMatchObject([
      { kind: "broadcast", broadcastId: "b1" },
    ]);
  });

  test("announces what happened to an instance, if a subscriber wants it", async () => {
    const [event] = await heard("instance-ended", (bus) => bus.announce?.(anAnnouncement));

    expect(event).toMatchObject({ source: "fermata", detail: anAnnouncement });
  });

  test("is not published without a subscriber", () => {
    const bus = new EventBridgeBus({ client, busName: "any", announces: false, clock });

    expect(bus.announce).toBeUndefined();
  });

  test("of another application that requests a signal can be read as it is", async () => {
    const queue = await createQueue(sqs);
    const { busName, drop } = await createBus("signal-requested", queue);
    const Detail = JSON.stringify({ name: "closed", payload: { why: "flood" } });
    const Entry = { EventBusName: busName, Source: "shop", DetailType: "signal-requested", Detail };
    const { Entries = [] } = await client.send(new PutEventsCommand({ Entries: [Entry] }));

    const bodies = await bodiesOf(queue);
    await drop();
    await queue.drop();

    const id = Entries[0]?.EventId;
    const asked = { kind: "signal-requested", id, name: "closed", payload: { why: "flood" } };
    expect(bodies.map((body) => parseText(body))).toEqual([asked]);
  });

  test("is counted", async () => {
    const used: Usage[] = [];
    await heard(
      "signal-accepted",
      (bus) => bus.publish(aBroadcast),
      (usage) => used.push(usage),
    );

    expect(used).toEqual([{ of: "eventbridge", events: 1 }]);
  });
});

async function heard(
  type: string,
  say: (bus: EventBridgeBus) => unknown,
  meter: (usage: Usage) => void = () => {},
): Promise<readonly object[]> {
  const queue = await createQueue(sqs);
  const { busName, drop } = await createBus(type, queue);
  await say(new EventBridgeBus({ client, busName, announces: true, clock, meter }));
  const bodies = await bodiesOf(queue);
  await drop();
  await queue.drop();
  return bodies.map((body) => JSON.parse(body));
}

async function bodiesOf(queue: TestQueue): Promise<readonly string[]> {
  const all: string[] = [];
  await queue.drain(async (bodies) => {
    all.push(...bodies);
    return bodies.map(() => "release" as const);
  });
  return all;
}

function detailOf(event: object | undefined): object {
  return event !== undefined && "detail" in event && typeof event.detail === "object"
    ? (event.detail ?? {})
    : {};
}

/** A bus with one rule, which delivers events of this type to the queue. */
async function createBus(type: string, { arn }: TestQueue) {
  const busName = `bus-${randomUUID()}`;
  const rule = { EventBusName: busName, Rule: "to-queue" };
  await client.send(new CreateEventBusCommand({ Name: busName }));
  await client.send(
    new PutRuleCommand({
      EventBusName: busName,
      Name: rule.Rule,
      EventPattern: JSON.stringify({ "detail-type": [type] }),
    }),
  );
  const target = { Id: "queue", Arn: arn };
  await client.send(new PutTargetsCommand({ ...rule, Targets: [target] }));
  return {
    busName,
    async drop() {
      await client.send(new RemoveTargetsCommand({ ...rule, Ids: ["queue"] }));
      await client.send(new DeleteRuleCommand({ EventBusName: busName, Name: rule.Rule }));
      await client.send(new DeleteEventBusCommand({ Name: busName }));
    },
  };
}

const aBroadcast: Broadcast = {
  tenant: "default",
  broadcastId: "b1",
  topic: { kind: "signal", name: "approved" },
  seq: 42,
  at: instantFrom(Date.UTC(2030, 0, 1)),
};

const anAnnouncement: Announcement = {
  id: "order-1:e3.1",
  tenant: "default",
  instanceId: "order-1",
  definition: { id: "order", version: 1 },
  notice: { type: "instance-ended", status: "succeeded", terminationKind: "success" },
};
