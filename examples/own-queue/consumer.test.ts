import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "fermata-engine/client";
import { type EmbeddedEngine, openEngine, serveEngine } from "fermata-engine/embedded";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { consumer } from "./consumer.ts";

const source = `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="https://example.com">
  <error id="declined" errorCode="CARD_DECLINED" />
  <process id="payment" isExecutable="true">
    <startEvent id="start" />
    <sequenceFlow id="f1" sourceRef="start" targetRef="charge" />
    <serviceTask id="charge">
      <extensionElements><zeebe:taskDefinition type="charge-card" retries="2" /></extensionElements>
    </serviceTask>
    <boundaryEvent id="no-money" attachedToRef="charge"><errorEventDefinition errorRef="declined" /></boundaryEvent>
    <sequenceFlow id="f2" sourceRef="charge" targetRef="paid" />
    <sequenceFlow id="f3" sourceRef="no-money" targetRef="unpaid" />
    <endEvent id="paid" />
    <endEvent id="unpaid" />
  </process>
</definitions>`;

describe("the consumer of your own queue", () => {
  let dataDir: string;
  let engine: EmbeddedEngine;
  let server: Awaited<ReturnType<typeof serveEngine>>;
  let client: Client;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "fermata-own-queue-"));
    engine = await openEngine({ dataDir });
    server = await serveEngine(engine, { port: 0 });
    client = createClient({ baseUrl: server.url });
    await engine.deploy(source);
  });
  afterEach(async () => {
    await server.close();
    await engine.close();
    rmSync(dataDir, { recursive: true });
  });

  /** An instance, and the queue message of its task: a poll returns the same, with a lock. */
  async function started(total: number) {
    const { instanceId } = await engine.start("payment", { variables: { total } });
    const poll = { type: "charge-card", max: 1, lockSeconds: 1, worker: "queue" };
    const [task] = (await client.activate(poll)).tasks;
    const { lockToken: _, lockedUntil: __, ...queued } = task ?? { lockToken: "", lockedUntil: "" };
    return { instanceId, event: { Records: [{ messageId: "m1", body: JSON.stringify(queued) }] } };
  }

  test("F67 completes a task, and deletes its message when it is redelivered", async () => {
    const { instanceId, event } = await started(42);

    const kept = [await consumer(client)(event), await consumer(client)(event)];

    expect(kept).toEqual([{ batchItemFailures: [] }, { batchItemFailures: [] }]);
    const { variables } = await engine.result(instanceId);
    expect(variables).toMatchObject({ receiptId: expect.stringContaining(instanceId) });
  });

  test("F67 reports a business error, which the model catches", async () => {
    const { instanceId, event } = await started(5_000);

    await consumer(client)(event);

    expect((await engine.get(instanceId)).completedElements).toContain("unpaid");
  });

  test("deletes the message of a task that was interrupted", async () => {
    const { instanceId, event } = await started(42);
    await engine.cancel(instanceId);

    expect(await consumer(client)(event)).toEqual({ batchItemFailures: [] });
    expect((await engine.get(instanceId)).status).toBe("cancelled");
  });

  test("keeps the message while the engine cannot be reached", async () => {
    const { event } = await started(42);
    const nowhere = createClient({ baseUrl: "http://127.0.0.1:1" });

    expect(await consumer(nowhere)(event)).toEqual({
      batchItemFailures: [{ itemIdentifier: "m1" }],
    });
  });
});
