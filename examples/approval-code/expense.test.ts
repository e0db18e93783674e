import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedEngine, openEngine } from "fermata-engine/embedded";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expense } from "./workflows/expense.ts";

describe("the approval in TypeScript (D23)", () => {
  let dataDir: string;
  let engine: EmbeddedEngine;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "fermata-expense-"));
    engine = await openEngine({
      dataDir,
      clock: "virtual",
      workflows: join(import.meta.dirname, "workflows"),
    });
  });

  afterAll(async () => {
    await engine.close();
    rmSync(dataDir, { recursive: true });
  });

  async function requested() {
    const started = await engine.start(expense, { input: { employee: "Ada", amount: 120 } });
    await engine.idle();
    return started;
  }

  async function decide(target: string, approved: boolean) {
    await engine.event({ name: "decide", target, payload: { approved, by: "Grace" } });
    await engine.idle();
  }

  const revoke = (target: string) =>
    engine.event({ name: "revoke", target, payload: { by: "Linus" } });

  async function remindersOf(instanceId: string) {
    const { items } = await engine.history(instanceId);
    return items.filter(
      ({ type, element }) => type === "task-completed" && element === "remind-manager",
    ).length;
  }

  test("pays a day after the approval", async () => {
    const started = await requested();
    await decide(started.instanceId, true);

    await engine.advanceClock("P1D");

    const { result } = await engine.result(started);
    expect(result).toMatchObject({ status: "paid", by: "Grace" });
  });

  test("pays nothing when the manager rejects", async () => {
    const started = await requested();

    await decide(started.instanceId, false);

    const { result } = await engine.result(started);
    expect(result).toEqual({ status: "rejected", by: "Grace" });
  });

  test("reminds once a day, and expires after seven", async () => {
    const started = await requested();

    await engine.advanceClock("P3D");
    const afterThree = await remindersOf(started.instanceId);
    await engine.advanceClock("P4D");

    const { result } = await engine.result(started);
    expect(result).toEqual({ status: "expired" });
    expect(afterThree).toBe(3);
  });

  test("sends no reminder after the decision", async () => {
    const started = await requested();
    await engine.advanceClock("P2D");
    await decide(started.instanceId, true);

    const { items } = await engine.waits(started.instanceId);
    await engine.advanceClock("P1D");

    expect(items.map(({ element }) => element).sort()).toEqual(["event:revoke", "timer"]);
    expect(await remindersOf(started.instanceId)).toBe(2);
  });

  test.each(["before", "after"])(
    "can be revoked %s the decision, until it is final",
    async (when) => {
      const started = await requested();
      if (when === "after") {
        await decide(started.instanceId, true);
        await engine.advanceClock("PT23H");
      }

      await revoke(started.instanceId);

      const { result } = await engine.result(started);
      expect(result).toEqual({ status: "revoked", by: "Linus" });
    },
  );

  test("cannot be revoked once it is paid", async () => {
    const started = await requested();
    await decide(started.instanceId, true);
    await engine.advanceClock("P1D");

    const late = revoke(started.instanceId);

    await expect(late).rejects.toThrow(/ended/);
    expect((await engine.result(started)).result).toMatchObject({ status: "paid" });
  });
});
