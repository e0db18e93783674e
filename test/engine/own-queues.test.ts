import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../lib/adapters/simulated/store.ts";
import type { World } from "../../lib/engine/world.ts";
import * as bpmn from "../support/bpmn-xml.ts";
import { aPlainWorld } from "../support/plain-world.ts";

const source = bpmn.sequence(bpmn.service("work"));
const ARN = "arn:aws:sqs:eu-west-1:123456789012:work";
const poll = { type: "work", max: 10, lockSeconds: 30, worker: "w" };

type Sent = { arn: string; task: Record<string, unknown>; delayMs: number };

async function aWorld(answer: "sent" | "refused" = "sent") {
  const sent: Sent[] = [];
  const troubles: string[] = [];
  const ownQueues: NonNullable<World["ownQueues"]> = {
    allows: (arn) => arn === ARN,
    send: async (arn, body, delayMs) => {
      if (answer === "sent") sent.push({ arn, task: JSON.parse(body), delayMs });
      return answer;
    },
  };
  const world = aPlainWorld({
    store: new SimulatedStore({}),
    ownQueues,
    onTrouble: (about) => troubles.push(about),
  });
  await world.engine.deploy({ notation: "bpmn", source });
  return { ...world, sent, troubles };
}

describe("a queue of the user's own", () => {
  test("gets the tasks of its type as a poll would, without a lock and without a row", async () => {
    const { engine, drain, sent } = await aWorld();
    await engine.setTaskType("work", { queueArn: ARN });

    const { instanceId } = await engine.start("p", { variables: { total: 42 } });
    await drain();

    expect(sent).toMatchObject([{ arn: ARN, delayMs: 0 }]);
    expect(sent[0]?.task).toEqual({
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

  test("gets the next attempt not before its time", async () => {
    const { engine, drain, sent } = await aWorld();
    await engine.setTaskType("work", { queueArn: ARN });
    const { instanceId } = await engine.start("p");
    await drain();

    await engine.failTask(`${instanceId}.k1.1`, { message: "no", retryAfter: "PT1M" });
    await drain();

    expect(sent.map(({ delayMs, task }) => [delayMs, task.attempt])).toEqual([
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
    expect(sent).toHaveLength(1);
    expect((await engine.activate(poll)).tasks).toEqual([]);
  });

  test("leaves to polls what it refuses, and what is too large for it", async () => {
    const refusing = await aWorld("refused");
    const { engine, drain, sent, troubles } = await aWorld();
    for (const world of [refusing, { engine, drain }]) {
      await world.engine.setTaskType("work", { queueArn: ARN });
      await world.engine.start("p", { variables: { text: "x".repeat(270_000) } });
      await world.drain();
    }

    expect((await refusing.engine.activate(poll)).tasks).toHaveLength(1);
    expect((await engine.activate(poll)).tasks).toHaveLength(1);
    expect(sent).toEqual([]);
    expect(troubles).toEqual([expect.stringContaining("poll for it instead")]);
  });

  test("must be one that the installation was told of, and can be given up", async () => {
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
});
