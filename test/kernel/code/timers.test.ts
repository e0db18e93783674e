import { describe, expect, test } from "vitest";
import { done, incidentsOf, resultOf, run } from "../../support/code-play.ts";
import { BEGIN } from "../../support/play.ts";

const at = (ms: number) => new Date(BEGIN + ms).toISOString();

describe("a timer", () => {
  test.each([
    ["1h", 3_600_000],
    ["PT15M", 900_000],
    ["1.5s", 1_500],
    ["0s", 0],
    ["PT0S", 0],
    ["0.2ms", 1],
    ["2d", 172_800_000],
    ["1d 12h", 129_600_000],
    ["1w", 604_800_000],
    ["0.5d", 43_200_000],
    ["PT0,5S", 500],
    ["P100Y", 3_155_673_600_000],
  ])("R9: D5: of %s fires when it is due, and tells when that was", async (text, ms) => {
    const order = await run(`return delay(${JSON.stringify(text)});`, (it) => it.fire("timer", 5));

    expect(resultOf(order)).toEqual({ dueAt: at(ms), firedAt: at(ms + 5) });
  });

  test.each([
    ["-1s", "is negative"],
    ["PT-1S", "is negative"],
    ["soon", "is not a duration"],
    ["P", "is not a duration"],
    ["P1DT", "is not a duration"],
    ["101 years", "is not a duration"],
    ["P101Y", "is longer than 100 years"],
    ["40000d", "is longer than 100 years"],
  ])("R9: refuses %s, in the workflow", async (text, why) => {
    const order = await run(
      `try { await delay(${JSON.stringify(text)}); } catch (error: any) { return [error.name, error.message]; }`,
    );

    expect(resultOf(order)).toEqual(["RangeError", expect.stringContaining(why)]);
  });

  test("R9: refuses a duration without its unit", async () => {
    const order = await run("await delay(5 as any);");

    expect(order.instance.error).toMatchObject({ name: "TypeError" });
  });

  test("R9: that is awaited late waits only the rest", async () => {
    const order = await run('const t = delay("1h"); await task("a"); return t;', async (it) => {
      it.now += 3_000_000;
      await done(it, "a");
      expect(it.timer("timer").dueAt).toBe(BEGIN + 3_600_000);
      await it.fire("timer");
    });

    expect(resultOf(order)).toEqual({ dueAt: at(3_600_000), firedAt: at(3_600_000) });
  });

  test("R9: that has fired before it is awaited is there at once", async () => {
    const order = await run(
      'const t = delay("1h"); await task("a"); const { firedAt } = await t; return [firedAt, now()];',
      async (it) => {
        await it.fire("timer");
        it.now += 1_000;
        await done(it, "a");
      },
    );

    expect(resultOf(order)).toEqual([at(3_600_000), at(3_601_000)]);
  });

  test.each([
    ["a Date", "new Date(Date.now() + 60_000)", 60_000],
    ["a text", '"2024-01-01T00:01:00Z"', 60_000],
    ["a number", "1704067260000.5", 60_001],
    ["the past", "0", -BEGIN],
  ])("D5: sleepUntil takes %s", async (_, instant, ms) => {
    const order = await run(`return (await sleepUntil(${instant})).dueAt;`, (it) =>
      it.fire("timer"),
    );

    expect(resultOf(order)).toBe(at(ms));
  });

  test("D5: sleepUntil refuses what is no instant", async () => {
    const order = await run('await sleepUntil("tomorrow");');

    expect(order.instance.error).toMatchObject({ name: "RangeError" });
  });

  test("D5: sleep is delay", async () => {
    const order = await run('await sleep("2d"); return now();', (it) => it.fire("timer"));

    expect(resultOf(order)).toBe(at(172_800_000));
  });

  test("R9: never fires early", async () => {
    const order = await run('await delay("1h");');
    order.now += 3_599_999;

    const early = await order.deliver({ kind: "timer-due", ticket: order.timer("timer").id });

    expect(early.changed).toBe(false);
  });

  test("R9: whose duration the engine cannot read is an incident", async () => {
    const order = await run(
      `(globalThis as any).__fermata.open("timer", '"after":"soon"', () => {}, () => {}); await delay("1h");`,
    );

    expect(incidentsOf(order)).toEqual([expect.stringContaining("UNKNOWN: A timer: ")]);
  });
});
