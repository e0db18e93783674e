import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Worker } from "fermata-engine/client";
import { type EmbeddedEngine, openEngine, workerDoor } from "fermata-engine/embedded";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAccounts } from "./worker.ts";

const here = import.meta.dirname;

describe("the onboarding example", () => {
  let dataDir: string;
  let engine: EmbeddedEngine;
  let accounts: Worker;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "fermata-onboarding-"));
    engine = await openEngine({ dataDir, tasks: join(here, "tasks") });
    for (const file of ["equipment.bpmn", "onboarding.bpmn"]) {
      await engine.deploy(readFileSync(join(here, file), "utf8"));
    }
    accounts = createAccounts(workerDoor(engine));
  });

  afterEach(async () => {
    await accounts.stop();
    await engine.close();
    rmSync(dataDir, { recursive: true });
  });

  /** An employee is hired, and Grace has checked the contract. */
  async function hired(things: readonly string[]): Promise<string> {
    const variables = { name: "Ada Lovelace", things };
    const { instanceId } = await engine.start("onboarding", { variables });
    const { items } = await engine.tasks({ candidateGroup: "people-team", instanceId });
    const taskId = items[0]?.taskId ?? "";
    await engine.claim(taskId, { user: "grace" });
    await engine.complete(taskId, { user: "grace", variables: { startsOn: "2030-01-07" } });
    return instanceId;
  }

  test("F57 F58 F66 F67: runs a user task, a worker task and a called process, which orders each item", async () => {
    const instanceId = await hired(["laptop", "desk", "chair"]);

    const { status, variables } = await engine.result(instanceId);

    expect(status).toBe("succeeded");
    expect(variables).toMatchObject({
      account: "ada.lovelace@example.com",
      parcels: ["a laptop in a box", "a desk in a box", "a chair in a box"],
    });
    const [child] = (await engine.list({ definition: "equipment" })).items;
    expect(child).toMatchObject({ status: "succeeded", parent: { instanceId } });
  });

  test("F57: catches a sold-out error of the called process at the call, and assigns it to a buyer", async () => {
    const instanceId = await hired(["laptop", "unicorn"]);
    const buy = await firstTaskFor("buyers");

    await engine.complete(buy?.taskId ?? "");

    const { variables } = await engine.result(instanceId);
    expect(buy?.variables).toMatchObject({ missing: "unicorn" });
    expect(variables).not.toHaveProperty("parcels");
  });

  /** The worker and the engine run by themselves: waits for the task. */
  async function firstTaskFor(candidateGroup: string) {
    for (;;) {
      const [found] = (await engine.tasks({ candidateGroup })).items;
      if (found) return found;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
});
