import { describe, expect, test } from "vitest";
import {
  type OwnQueueFault,
  SimulatedOwnQueues,
} from "../../../lib/adapters/simulated/own-queues.ts";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { inARow } from "../../cost/workflows.ts";
import * as bpmn from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const source = bpmn.sequence(bpmn.service("work"));
const before = bpmn.xml("serviceTask", { id: "before" }, bpmn.extensions(bpmn.job("before")));
const afterAnother = inARow("q", [before, bpmn.service("work")]);
const arnOf = (name: string) => `arn:aws:sqs:eu-west-1:123456789012:${name}`;
const ARN = arnOf("work");
const GONE = arnOf("gone");
const poll = { type: "work", max: 10, lockSeconds: 30, worker: "w" };
const BEGIN = 1_800_000_000_000;

type Sent = { task: Record<string, unknown>; delayMs: number };

async function aWorld(answer: () => OwnQueueFault | undefined = () => undefined) {
  const troubles: string[] = [];
  const ownQueues = new SimulatedOwnQueues({
    clock: { now: () => instantFrom(BEGIN) },
    region: "eu-west-1",
    there: [ARN],
    allowed: [ARN, GONE],
    turn: async (point) => (point === "send:before" ? answer() : undefined),
  });
  const store = new SimulatedStore({});
  const world = aPlainWorld({
    store,
    ownQueues,
    tasks: { before: () => ({}) },
    onTrouble: (about) => troubles.push(about),
  });
  await world.engine.deploy({ notation: "bpmn", source });
  /** Everything that was put into the queue and is still there. */
  const sent = (): readonly Sent[] =>
    ownQueues
      .queue(ARN)
      .all()
      .map(({ message, visibleAt }) => ({
        task: JSON.parse(message),
        delayMs: visibleAt - BEGIN,
      }));
  return { ...world, store, sent, troubles, lose: () => ownQueues.queue(ARN).lose() };
}

describe("a user's own queue", () => {
  test("gets the tasks of its type as a poll would, without a lock and without a row", async () => {
    const { engine, drain, sent } = await aWorld();
    await engine.setTaskType("work", { queueArn: ARN });

    const { instanceId } = await engine.start("p", { variables: { total: 42 } });
    await drain();

    expect(sent()).toMatchObject([{ delayMs: 0 }]);
    expect(sent()[0]?.task).toEqual({
      taskId: `${instanceId}.k1.1`,
      type: "work",
      instanceId,
      element: "work",
      definition: { id: "p", version: 1 },
      variables: { total: 42 },
      headers: {},
      attempt: 1,
      retries: 3,
      idempotencyKey: `${instanceId}:k1.1`,
    });
    expect((await engine.activate(poll)).tasks).toEqual([]);
    await engine.completeTask(`${instanceId}.k1.1`);
    expect((await engine.get(instanceId)).status).toBe("succeeded");
  });

  test("does not get the next attempt early", async () => {
    const { engine, drain, sent } = await aWorld();
    await engine.setTaskType("work", { queueArn: ARN });
    const { instanceId } = await engine.start("p");
    await drain();

    await engine.failTask(`${instanceId}.k1.1`, { message: "no", retryAfter: "PT1M" });
    await drain();

    expect(sent().map(({ delayMs, task }) => [delayMs, task.attempt])).toEqual([
      [0, 1],
      [60_000, 2],
    ]);
  });

  test("gets what was offered before, when tasks are adopted", async () => {
    const { engine, drain, sent } = await aWorld();
    await engine.start("p");
    await drain();
    await engine.setTaskType("work", { queueArn: ARN });

    const adopted = await engine.adopt();

    expect(adopted).toBe(1);
    expect(sent()).toHaveLength(1);
    expect((await engine.activate(poll)).tasks).toEqual([]);
  });

  test("gets it once, from a sweep that may only remove single rows and write no batches", async () => {
    const { engine, drain, sent, troubles, store } = await aWorld();
    await engine.start("p", { instanceId: "open" });
    await engine.start("p", { instanceId: "over" });
    await drain();
    await engine.setTaskType("work", { queueArn: ARN });
    await engine.completeTask("over.k1.1");
    await drain();
    store.tidy = () => Promise.reject(new Error("AccessDenied: dynamodb:BatchWriteItem"));

    const adopted = [await engine.adopt(), await engine.adopt()];

    expect(adopted).toEqual([1, 0]);
    expect(sent().map(({ task }) => task.instanceId)).toEqual(["open"]);
    expect(troubles).toEqual([]);
  });

  test("leaves to polling what it refuses, and what is too large for it", async () => {
    const refusing = await aWorld(() => ({ fault: "refused" }));
    const { engine, drain, sent, troubles } = await aWorld();
    for (const world of [refusing, { engine, drain }]) {
      await world.engine.setTaskType("work", { queueArn: ARN });
      await world.engine.start("p", { variables: { text: "x".repeat(270_000) } });
      await world.drain();
    }

    expect((await refusing.engine.activate(poll)).tasks).toHaveLength(1);
    expect((await engine.activate(poll)).tasks).toHaveLength(1);
    expect(sent()).toEqual([]);
    expect(troubles).toEqual([expect.stringContaining("poll for it instead")]);
  });

  test("must be listed in the installation, and can be removed from its type", async () => {
    const { engine } = await aWorld();

    await expect(engine.setTaskType("work", { queueArn: `${ARN}2` })).rejects.toMatchObject({
      code: "task-type/queue-not-allowed",
    });
    await engine.setTaskType("work", { queueArn: ARN });
    expect(await engine.setTaskType("work", { queueArn: null })).toEqual({
      type: "work",
      queueArn: null,
      shards: 1,
    });
  });

  test.each([
    ["is not there", GONE, { code: "task-type/queue-unusable" }],
    ["is not the installation's", arnOf("other"), { code: "task-type/queue-not-allowed" }],
  ])("that %s is refused, and the type stays as it was", async (_, queueArn, error) => {
    const { engine } = await aWorld();
    await engine.setTaskType("work", { queueArn: ARN });

    await expect(engine.setTaskType("work", { queueArn })).rejects.toMatchObject(error);

    expect(await engine.taskType("work")).toMatchObject({ queueArn: ARN });
  });

  test("gets nothing more once it is removed from its type: later tasks are polled for", async () => {
    const { engine, drain, sent } = await aWorld();
    await engine.setTaskType("work", { queueArn: ARN });
    await engine.start("p", { instanceId: "before" });
    await drain();

    await engine.setTaskType("work", { queueArn: null });
    await engine.start("p", { instanceId: "after" });
    await drain();

    expect(sent().map(({ task }) => task.instanceId)).toEqual(["before"]);
    const { tasks } = await engine.activate(poll);
    expect(tasks.map(({ instanceId }) => instanceId)).toEqual(["after"]);
    await engine.completeTask("before.k1.1");
    expect((await engine.get("before")).status).toBe("succeeded");
  });

  test("D19 gets again what it has lost, by a full recovery but not by a sweep", async () => {
    const { engine, drain, sent, lose, moveTo } = await aWorld();
    await engine.setTaskType("work", { queueArn: ARN });
    const { instanceId } = await engine.start("p", { variables: { total: 42 } });
    await drain();
    const first = sent();
    lose();
    moveTo(BEGIN + 3_600_000);

    const adopted = await engine.adopt();
    const swept = await engine.sweep({ index: 0, of: 1 });
    expect([adopted, swept.sent, sent()]).toEqual([0, 0, []]);
    const report = await engine.recoverAll({ limit: 50 });

    expect(report).toMatchObject({ resumed: 1, resent: 1, skipped: 0 });
    expect(sent()).toEqual(first);
    await engine.completeTask(`${instanceId}.k1.1`);
    expect((await engine.get(instanceId)).status).toBe("succeeded");
  });

  test("D19 gets what its crashed sender had not sent, although the lease has not expired", async () => {
    let isAway = true;
    const { engine, drain, sent } = await aWorld(() => (isAway ? { fault: "lost" } : undefined));
    await engine.deploy({ notation: "bpmn", source: afterAnother });
    await engine.setTaskType("work", { queueArn: ARN });
    await engine.start("q", { instanceId: "one" });
    await expect(drain()).rejects.toMatchObject({ code: "queue/send-failed" });

    const early = await engine.recoverAll({ limit: 50 });
    isAway = false;
    const report = await engine.recoverAll({ limit: 50 });

    expect(early).toMatchObject({ resumed: 0, resent: 0, skipped: 0, failed: 1 });
    expect(report).toMatchObject({ resumed: 1, resent: 1, skipped: 0, failed: 0 });
    expect(sent()).toMatchObject([{ task: { instanceId: "one", element: "work" } }]);
  });
});
