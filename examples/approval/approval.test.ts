import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedEngine, openEngine } from "fermata-engine/embedded";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const here = import.meta.dirname;

describe("the approval example", () => {
  let dataDir: string;
  let engine: EmbeddedEngine;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "fermata-approval-"));
    engine = await openEngine({ dataDir, clock: "virtual", tasks: join(here, "tasks") });
    await engine.deploy(readFileSync(join(here, "approval.bpmn"), "utf8"));
  });

  afterEach(async () => {
    await engine.close();
    rmSync(dataDir, { recursive: true });
  });

  async function requested(requester: string, more: { remindEvery?: string } = {}) {
    const { instanceId } = await engine.start("approval", {
      variables: { requester, what: "a desk", ...more },
    });
    await engine.idle();
    return instanceId;
  }

  async function remindersOf(instanceId: string) {
    const { items } = await engine.history(instanceId);
    return items.filter(({ type, element }) => type === "timer-due" && element === "remind").length;
  }

  test("approves two requests by one broadcast", async () => {
    const ids = [await requested("Ada"), await requested("Grace")];

    const { deliveredCount } = await engine.signal("request-approved", { by: "Linus" });

    expect(deliveredCount).toBe(2);
    const [first, second] = await Promise.all(ids.map((id) => engine.result(id)));
    expect(first?.variables).toMatchObject({
      decision: "approved",
      told: "Ada, your request for a desk was approved by Linus.",
    });
    expect(second?.variables).toMatchObject({ decision: "approved", decidedBy: "Linus" });
  });

  test("rejects by the other signal", async () => {
    const id = await requested("Ada");

    await engine.signal("request-rejected");

    const { status, variables } = await engine.result(id);
    expect(status).toBe("succeeded");
    expect(variables).toMatchObject({ decision: "rejected", decidedBy: "somebody" });
  });

  test("waits for the next broadcast when a request comes after one", async () => {
    const { deliveredCount } = await engine.signal("request-approved");
    const id = await requested("Ada");

    const { items } = await engine.waits(id);

    expect(deliveredCount).toBe(0);
    expect(items.map(({ kind, name }) => name ?? kind).sort()).toEqual([
      "request-approved",
      "request-rejected",
      "timer",
    ]);
  });

  test("sends three reminders, one a minute, and keeps waiting", async () => {
    const id = await requested("Ada");

    await engine.advanceClock("PT59S");
    const before = await remindersOf(id);
    await engine.advanceClock("PT1S");
    const afterOne = await remindersOf(id);
    await engine.advanceClock("PT1H");

    expect([before, afterOne, await remindersOf(id)]).toEqual([0, 1, 3]);
    const { status, variables } = await engine.get(id);
    expect(status).toBe("suspended");
    expect(variables).toMatchObject({ reminders: 3 });
  });

  test("sends no reminder after the decision", async () => {
    const id = await requested("Ada", { remindEvery: "PT10M" });
    await engine.advanceClock("PT10M");

    await engine.signal("request-approved");
    await engine.advanceClock("P1D");

    const { variables } = await engine.result(id);
    expect(variables).toMatchObject({ decision: "approved", reminders: 1 });
    expect(await engine.waits(id)).toEqual({ items: [] });
  });

  test("broadcasts a signal when it is decided", async () => {
    const id = await requested("Ada");
    await engine.signal("request-approved");
    await engine.idle();

    const { items } = await engine.history(id);

    const thrown = items.find(({ type }) => type === "signal-thrown");
    expect(thrown).toMatchObject({
      element: "request-settled",
      data: { name: "request-settled" },
    });
  });
});
