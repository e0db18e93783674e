import { describe, expect, test } from "vitest";
import { isFinal, pauseAfter, timeoutAt } from "../../../lib/kernel/code/retry-table.ts";
import { done, resultOf, run } from "../../support/code-play.ts";
import { aBundle, aCodeOn, aGuest } from "../../support/code-workflow.ts";
import { BEGIN, type Play, play } from "../../support/play.ts";

const CAUGHT = `catch (error: any) {
  return { name: error.name, type: error.type, code: error.code, message: error.message, attempts: error.attempts };
}`;
const trying = (options = "{}") => `try { return await task("a", null, ${options}); } ${CAUGHT}`;

/** Fails attempts for as long as there are any; returns the pauses before the next ones. */
async function exhaust(it: Play, how: Parameters<Play["fail"]>[1] = {}): Promise<number[]> {
  const pauses: number[] = [];
  while (it.open.includes("task a")) {
    const { notBefore = it.now } = it.task("a");
    pauses.push(notBefore - it.now);
    it.now = notBefore;
    await it.fail("a", how);
  }
  return pauses.slice(1);
}

describe("retries", () => {
  test("D4: 1: are not needed when the first attempt succeeds", async () => {
    const order = await run(trying(), (it) => done(it, "a", 1));

    expect(resultOf(order)).toBe(1);
  });

  test("D4: 2: R21: succeed after failures that pass", async () => {
    const order = await run(trying(), async (it) => {
      await it.fail("a");
      expect(it.task("a")).toMatchObject({ attempt: 2, retries: 2 });
      await it.fail("a");
      await done(it, "a", 1);
    });

    expect(resultOf(order)).toBe(1);
    expect(order.instance.journal?.entries).toHaveLength(1);
  });

  test("D4: 3: R21: are exhausted after three attempts, or as many as the table says", async () => {
    const plain = await run(trying(), exhaust);
    const five = await run(trying("{ retry: { maxAttempts: 5 } }"), exhaust);

    expect(resultOf(plain)).toMatchObject({ name: "TaskFailed", attempts: 3 });
    expect(resultOf(plain)).not.toHaveProperty("code");
    expect(resultOf(five)).toMatchObject({ attempts: 5 });
  });

  test("D4: 4: 5: are made for errors without a code; one with a code is final", async () => {
    const order = await run(trying(), (it) => it.fail("a", { code: "NO_STOCK" }));

    expect(resultOf(order)).toMatchObject({ code: "NO_STOCK", attempts: 1 });
    expect(isFinal({})).toBe(false);
    expect(isFinal({ code: "X" })).toBe(true);
  });

  test("D4: 5: 6: are made for the codes that the table names, unless it excludes them", async () => {
    const table = '{ retry: { retryOn: ["BUSY", "BAD"], nonRetryable: ["BAD"] } }';
    const busy = await run(trying(table), (it) => exhaust(it, { code: "BUSY" }));
    const bad = await run(trying(table), (it) => exhaust(it, { code: "BAD" }));

    expect(resultOf(busy)).toMatchObject({ code: "BUSY", attempts: 3 });
    expect(resultOf(bad)).toMatchObject({ code: "BAD", attempts: 1 });
  });

  test("D4: 7: leave every failure in history", async () => {
    const order = await run(trying(), async (it) => {
      await it.fail("a", { message: "first" });
      await it.fail("a", { message: "second", code: "C" });
    });

    const failures = order.instance.trail.entries.filter(({ type }) => type === "task-failed");
    expect(failures.map(({ data }) => data)).toEqual([
      { attempt: 1, message: "first" },
      { attempt: 2, message: "second", code: "C" },
    ]);
  });

  test("D4: 8: are skipped by a replay: it sees the outcome only", async () => {
    const order = await run(`${trying()} finally { await delay("1h"); }`, async (it) => {
      await exhaust(it);
      await it.fire("timer");
    });

    expect(order.instance.journal?.entries.map(([n]) => n)).toEqual([1, 2]);
  });

  test("D4: 9: are not made with one attempt", async () => {
    const order = await run(trying("{ retry: { maxAttempts: 1 } }"), (it) => it.fail("a"));

    expect(resultOf(order)).toMatchObject({ attempts: 1 });
  });

  test.each([
    ["a backoff is the same each time", '{ maxAttempts: 4, backoff: "2s" }', [2, 2, 2]],
    ["a multiplier lets it grow", '{ maxAttempts: 4, backoff: "2s", multiplier: 3 }', [2, 6, 18]],
    ["without a backoff it doubles from 1 s", "{ maxAttempts: 4, jitter: 0 }", [1, 2, 4]],
    [
      "maxBackoff caps it",
      '{ maxAttempts: 4, backoff: "1m", multiplier: 10, maxBackoff: "5m" }',
      [60, 300, 300],
    ],
    ["the default cap is a minute", "{ maxAttempts: 9, jitter: 0 }", [1, 2, 4, 8, 16, 32, 60, 60]],
  ])("D4: 10: 11: R21: %s", async (_, table, seconds) => {
    let pauses: number[] = [];
    await run(trying(`{ retry: ${table} }`), async (it) => {
      pauses = await exhaust(it);
    });

    expect(pauses).toEqual(seconds.map((s) => s * 1_000));
  });

  test("D4: 10: 20 % of a pause are drawn by chance, the same at every decision", async () => {
    const chances = Array.from({ length: 200 }, (_, n) => `i1 k${n}.1`);
    const draw = (chance: string) => pauseAfter(1, undefined, { now: BEGIN, chance });
    const pauses = chances.map(draw);

    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(800);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(1_000);
    expect(Math.max(...pauses) - Math.min(...pauses)).toBeGreaterThan(150);
    expect(chances.map(draw)).toEqual(pauses);
  });

  test("D4: 11: a pause never gets longer than ten years", () => {
    const table = { backoff: "P1D", multiplier: 10 };

    const pause = pauseAfter(300, table, { now: BEGIN, chance: "" });

    expect(pause).toBe(10 * 365 * 86_400_000);
  });

  test("D4: 12: the worker's own delay and attempts win", async () => {
    const order = await run(trying('{ retry: { backoff: "2s", maxAttempts: 2 } }'), async (it) => {
      await it.fail("a", { retryAfterMs: 7_000, retries: 5 });
      expect(it.task("a")).toMatchObject({ attempt: 2, retries: 5, notBefore: it.now + 7_000 });
      await it.fail("a", { retryAfterMs: 7_000, retries: 0 });
    });

    expect(resultOf(order)).toMatchObject({ attempts: 2 });
  });

  test.each([
    ["maxAttempts: 0", "whole number from 1"],
    ["multiplier: 0.5", "number from 1"],
    ["jitter: 2", "from 0 to 1"],
    ['backoff: "-1s"', "is negative"],
    ['maxBackoff: "P200Y"', "longer than 100 years"],
  ])("D4: refuse a table with %s, in the workflow", async (entry, why) => {
    const order = await run(trying(`{ retry: { ${entry} } }`));

    expect(resultOf(order)).toMatchObject({
      name: "RangeError",
      message: expect.stringContaining(why),
    });
  });

  test("D4: a table that cannot be read is said to be one", () => {
    expect(() => timeoutAt("soon", BEGIN)).toThrow("A retry table: ");
  });

  test("D4: a call overrides what its step says", async () => {
    const bundle =
      aBundle(`const s = step("a", async () => 1, { retry: { maxAttempts: 5 }, timeout: "1h" });
      workflow("workflow", async () => s(undefined, { retry: { maxAttempts: 2 } }));`);

    const order = await play(aCodeOn(() => aGuest(bundle)));

    expect(order.task("a")).toMatchObject({ retries: 2 });
    expect(order.timer("a").dueAt).toBe(BEGIN + 3_600_000);
  });
});
