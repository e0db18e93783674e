import { describe, expect, test } from "vitest";
import { broken, done, resultOf, run } from "../../support/code-play.ts";

/** What was waited for and is now cut short. */
const terminated = (trail: readonly string[]) =>
  trail.flatMap((line) => /^element-terminated (.*)/.exec(line)?.slice(1) ?? []);

const CAUGHT = "catch (error: any) { return [error.name, error.type ?? error.message]; }";

describe("composites inside each other", () => {
  test("R7: decide each other: race of all against a timer", async () => {
    const body = 'return race({ both: all([task("a"), task("b")]), late: delay("1h") });';
    const both = await run(body, async (it) => {
      await done(it, "a", 1);
      await done(it, "b", 2);
    });

    expect(resultOf(both)).toEqual({ key: "both", value: [1, 2] });
    expect(terminated(both.trail)).toEqual(["timer"]);
  });

  test("R7: disarm all losers inside, at any depth", async () => {
    const order = await run(
      `const { key } = await race({
         work: all([task("a"), any([task("b"), race([event("e"), all({ c: task("c"), s: signal("s") })])])]),
         late: delay("1h"),
       });
       return key;`,
      async (it) => {
        expect(it.open).toHaveLength(6);
        await it.fire("timer");
      },
    );

    expect(resultOf(order)).toBe("late");
    expect(order.instance.tickets).toEqual([]);
    expect(terminated(order.trail)).toEqual(["a", "b", "event:e", "c", "signal:s"]);
  });

  test.each(["all", "any", "race"])(
    "R7: reject with a CancelledFailure when they lose: %s",
    async (composite) => {
      const order = await run(
        `const inner: Promise<unknown> = ${composite}([task("a"), task("b")]);
         await race([inner, delay("1h")]);
         try { await inner; } catch (error: any) { return error.name; }`,
        (it) => it.fire("timer"),
      );

      expect(resultOf(order)).toBe("CancelledFailure");
    },
  );

  test("R7: fail fast through each other", async () => {
    const order = await run(
      `try { await all([all([task("a"), task("b")]), delay("1h"), any([task("c")])]); } ${CAUGHT}`,
      (it) => broken(it, "b"),
    );

    expect(resultOf(order)).toEqual(["TaskFailed", "b"]);
    expect(order.instance.tickets).toEqual([]);
  });

  test("R7: native Promise.race works as well, and its losers stay armed", async () => {
    const order = await run(
      'await Promise.race([task("a"), delay("1h")]); await task("b");',
      (it) => done(it, "a"),
    );

    expect(order.open).toEqual(["timer timer", "task b"]);
  });
});

describe("async functions in a race", () => {
  const PARTS = `
    const log: string[] = [];
    const part = async (name: string) => {
      try { await task(name + "1"); await task(name + "2"); log.push(name); return name; }
      catch (error: any) { log.push(name + " " + error.name); throw error; }
    };`;

  test("D17: are disarmed when they lose: what they wait for rejects", async () => {
    const order = await run(
      `${PARTS} const won = await race(scope(() => [part("a"), part("b")])); await delay("1s"); return [won, log];`,
      async (it) => {
        await done(it, "b1");
        await done(it, "a1");
        await done(it, "a2");
        await it.fire("timer");
      },
    );

    expect(terminated(order.trail)).toEqual(["b2"]);
    expect(resultOf(order)).toEqual(["a", ["a", "b CancelledFailure"]]);
  });

  test("D17: lose against a timer, each in a scope of its own", async () => {
    const order = await run(
      `${PARTS} await race([scope(() => part("a")), scope(() => part("b")), delay("1h")]); await delay("1s"); return log;`,
      async (it) => {
        await done(it, "a1");
        await it.fire("timer");
        expect(it.open).toEqual(["timer timer"]);
        await it.fire("timer");
      },
    );

    expect(resultOf(order)).toEqual(["a CancelledFailure", "b CancelledFailure"]);
    expect(terminated(order.trail)).toEqual(["a2", "b1"]);
  });

  test("D17: keep what the winner started and did not wait for, in a scope of its own", async () => {
    const order = await run(
      `const first = async () => { task("audit"); return task("work"); };
       return race([scope(() => first()), delay("1h")]);`,
      (it) => done(it, "work", 1),
    );

    expect(order.open).toEqual(["task audit"]);
  });

  test("D17: of all() keep what they started when all have succeeded", async () => {
    const order = await run(
      `const one = async () => { task("audit"); return task("work"); };
       return all(scope(() => [one()]));`,
      (it) => done(it, "work", 1),
    );

    expect(order.open).toEqual(["task audit"]);
  });

  test("D17: are disarmed through composites inside of them", async () => {
    const order = await run(
      `const part = async () => { await task("a"); await all([task("b"), delay("2h")]); };
       return race(scope(() => ({ part: part(), stop: event("stop") })));`,
      async (it) => {
        await done(it, "a");
        await it.event("event:stop", { eventId: "e1", seq: 1 });
      },
    );

    expect(resultOf(order)).toEqual({ key: "stop", value: null });
    expect(order.instance.tickets).toEqual([]);
  });
});
