import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedEngine, openEngine } from "fermata-engine/embedded";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const here = import.meta.dirname;

describe("the leave example", () => {
  let dataDir: string;
  let engine: EmbeddedEngine;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "fermata-leave-"));
    engine = await openEngine({ dataDir, clock: "virtual", tasks: join(here, "tasks") });
    await engine.deploy(readFileSync(join(here, "leave.bpmn"), "utf8"));
  });

  afterEach(async () => {
    await engine.close();
    rmSync(dataDir, { recursive: true });
  });

  /** Requests leave; returns the instance and the task that the managers find. */
  async function requested(days = 5) {
    const { instanceId } = await engine.start("leave", { variables: { employee: "Ada", days } });
    await engine.idle();
    const { items } = await engine.tasks({ candidateGroup: "managers", instanceId });
    return { instanceId, taskId: items[0]?.taskId ?? "" };
  }

  test("F66: is found by the group, claimed by one and completed", async () => {
    const { instanceId, taskId } = await requested(12);
    const [free] = (await engine.tasks({ candidateGroup: "managers", state: "created" })).items;

    await engine.claim(taskId, { user: "grace", groups: ["managers"] });
    const linus = engine.claim(taskId, { user: "linus", groups: ["managers"] });
    await expect(linus).rejects.toMatchObject({ code: "task/claimed" });
    const early = engine.complete(taskId, { user: "grace" });
    await expect(early).rejects.toMatchObject({ code: "task/outputs-missing" });
    await engine.complete(taskId, { user: "grace", variables: { approved: true } });

    const { variables } = await engine.result(instanceId);
    expect(free).toMatchObject({
      priority: 80,
      requiredOutputs: ["approved"],
      form: { externalReference: "leave-approval" },
    });
    expect(free?.dueDate).toBe(dueAfter(free?.createdAt, 2));
    expect(variables).toMatchObject({
      approved: true,
      comment: "",
      told: "Ada, your leave was approved.",
    });
  });

  test("reminds the managers each day, and passes to the director after a week", async () => {
    const { instanceId, taskId } = await requested();
    await engine.claim(taskId, { user: "grace" });

    await engine.advanceClock("P7D");

    const gone = engine.complete(taskId, { variables: { approved: true } });
    await expect(gone).rejects.toMatchObject({ code: "task/not-found" });
    const [hers] = (await engine.tasks({ assignee: "director" })).items;
    expect(hers).toMatchObject({
      element: "decide",
      state: "claimed",
      variables: { reminders: 3 },
    });
    expect((await engine.tasks({ assignee: "grace" })).items).toEqual([]);
    await engine.complete(hers?.taskId ?? "", { variables: { approved: false } });
    const { variables } = await engine.result(instanceId);
    expect(variables).toMatchObject({ told: "Ada, your leave was refused." });
  });

  test("goes to the director when a manager is not allowed to decide", async () => {
    const { taskId } = await requested();

    await engine.fail(taskId, { message: "she is not in my team", code: "NOT_MINE" });
    await engine.idle();

    expect((await engine.tasks({ candidateGroup: "managers" })).items).toEqual([]);
    expect((await engine.tasks({ assignee: "director" })).items).toHaveLength(1);
  });

  const dueAfter = (createdAt: string | undefined, days: number) =>
    new Date(Date.parse(createdAt ?? "") + days * 86_400_000).toISOString();
});
