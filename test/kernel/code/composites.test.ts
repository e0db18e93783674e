import { describe, expect, test } from "vitest";
import { broken, done, resultOf, run } from "../../support/code-play.ts";

/** What was waited for and is now cut short. */
const terminated = (trail: readonly string[]) =>
  trail.flatMap((line) => /^element-terminated (.*)/.exec(line)?.slice(1) ?? []);

const CAUGHT = "catch (error: any) { return [error.name, error.type ?? error.message]; }";

describe("all()", () => {
  test("R4: keeps the order of a list, in whatever order its members succeed", async () => {
    const order = await run('return all([task("a"), 7, task("b")]);', async (it) => {
      await done(it, "b", 2);
      await done(it, "a", 1);
    });

    expect(resultOf(order)).toEqual([1, 7, 2]);
  });

  test("R4: keeps the shape of an object", async () => {
    const order = await run('return all({ x: task("a"), y: task("b") });', async (it) => {
      await done(it, "b", 2);
      await done(it, "a", 1);
    });

    expect(JSON.stringify(resultOf(order))).toBe('{"x":1,"y":2}');
  });

  test.each([
    ["the empty list", "[]", []],
    ["the empty object", "{}", {}],
    ["a list with a hole", "[1, , 2].map(String)", ["1", "nothing", "2"]],
  ])("R4: takes %s", async (_, members, expected) => {
    const order = await run(
      `const got = await all(${members});
       return Array.isArray(got) ? Array.from(got, (it) => it ?? "nothing") : got;`,
    );

    expect(resultOf(order)).toEqual(expected);
  });

  test.each(["a", "b", "c"])(
    "R4: fails fast when %s fails, and disarms the rest",
    async (failing) => {
      const order = await run(
        `try { await all([task("a"), task("b"), task("c")]); } ${CAUGHT}`,
        (it) => broken(it, failing),
      );

      expect(resultOf(order)).toEqual(["TaskFailed", failing]);
      expect(terminated(order.trail)).toEqual(["a", "b", "c"].filter((type) => type !== failing));
    },
  );

  test("R4: lets the rest be if it is told so", async () => {
    const order = await run(
      `try { await all([task("a"), task("b")], { onFailure: "leave" }); } ${CAUGHT}`,
      async (it) => {
        await broken(it, "a");
        expect(it.open).toEqual(["task b"]);
        await done(it, "b");
      },
    );

    expect(resultOf(order)).toEqual(["TaskFailed", "a"]);
    expect(terminated(order.trail)).toEqual([]);
  });

  test("R4: that is left lets the rest be even inside a race", async () => {
    const order = await run(
      `try { await race([all([task("a"), task("b")], { onFailure: "leave" }), delay("1h")]); } ${CAUGHT}`,
      (it) => broken(it, "a"),
    );

    expect(order.open).toEqual(["task b"]);
    expect(terminated(order.trail)).toEqual(["timer"]);
  });

  test("R8: mixes tasks, timers and events", async () => {
    const order = await run(
      'const [a, t, e] = await all([task("a"), delay("1h"), event("e")]); return [a, t.dueAt, e];',
      async (it) => {
        await it.fire("timer");
        await it.event("event:e", { eventId: "e1", seq: 1, payload: 5 });
        await done(it, "a", 1);
      },
    );

    expect(resultOf(order)).toEqual([1, "2024-01-01T01:00:00.000Z", 5]);
  });

  test.each([
    ["a promise", 'task("a")'],
    ["a set", 'new Set([task("a")])'],
    ["a text", '"ab"'],
    ["nothing", "null"],
  ])("R4: refuses %s: nothing in it would be waited for", async (_, members) => {
    for (const composite of ["all", "any", "race"]) {
      const order = await run(
        `try { await ${composite}(${members} as any); } catch (error: any) { return error.message; }`,
        (it) => (it.open.length > 0 ? done(it, "a") : Promise.resolve()),
      );

      expect(resultOf(order)).toBe("all(), any() and race() take a list or an object.");
    }
  });
});

describe("any()", () => {
  test("R5: skips failures, and disarms the others after the first success", async () => {
    const order = await run('return any([task("a"), task("b"), task("c")]);', async (it) => {
      await broken(it, "a");
      await done(it, "c", 3);
    });

    expect(resultOf(order)).toBe(3);
    expect(terminated(order.trail)).toEqual(["b"]);
  });

  test("R5: gives the key of an object", async () => {
    const order = await run('return any({ x: task("a"), y: task("b") });', async (it) => {
      await broken(it, "a");
      await done(it, "b", 2);
    });

    expect(resultOf(order)).toEqual({ key: "y", value: 2 });
  });

  test("R5: of which all fail throws an AggregateError, in their order", async () => {
    const order = await run(
      `try { await any([task("a"), task("b")]); }
       catch (error: any) { return [error.name, error instanceof AggregateError, ...error.errors.map((it: any) => it.type)]; }`,
      async (it) => {
        await broken(it, "b");
        await broken(it, "a");
      },
    );

    expect(resultOf(order)).toEqual(["AggregateError", true, "a", "b"]);
  });

  test("R5: of nothing throws an AggregateError of nothing", async () => {
    const order = await run(
      "try { await any([]); } catch (error: any) { return [error.name, error.errors]; }",
    );

    expect(resultOf(order)).toEqual(["AggregateError", []]);
  });
});

describe("race()", () => {
  test("R6: takes the first that settles, a failure too, and disarms the others", async () => {
    const body = `try { return await race([task("a"), task("b")]); } ${CAUGHT}`;
    const won = await run(body, (it) => done(it, "b", 2));
    const failed = await run(body, (it) => broken(it, "a"));

    expect([resultOf(won), terminated(won.trail)]).toEqual([2, ["a"]]);
    expect([resultOf(failed), terminated(failed.trail)]).toEqual([["TaskFailed", "a"], ["b"]]);
  });

  test.each([
    ["task", (it: Parameters<typeof done>[0]) => done(it, "work", 1), ["work", 1]],
    ["timer", (it: Parameters<typeof done>[0]) => it.fire("timer"), ["late", null]],
  ])("R6: of an object names the winner: the %s", async (_, come, expected) => {
    const order = await run(
      `const { key, value } = await race({ work: task("work"), late: delay("1h") });
       return [key, key === "work" ? value : null];`,
      come,
    );

    expect(resultOf(order)).toEqual(expected);
    expect(order.instance.tickets).toEqual([]);
  });

  test("R6: is over at once if a member is no operation", async () => {
    const order = await run('return race([task("a"), 7]);');

    expect(resultOf(order)).toBe(7);
    expect(terminated(order.trail)).toEqual(["a"]);
  });

  test("R6: of nothing is refused", async () => {
    const order = await run("await race([]);");

    expect(order.instance.error).toMatchObject({
      name: "RangeError",
      message: "race() of nothing would never end.",
    });
  });

  test("R6: whose loser is awaited later rejects it with a CancelledFailure", async () => {
    const order = await run(
      `const slow = task("slow"); await race([slow, delay("1h")]);
       try { await slow; } catch (error: any) { return [error.name, error instanceof WorkflowError]; }`,
      (it) => it.fire("timer"),
    );

    expect(resultOf(order)).toEqual(["CancelledFailure", true]);
  });
});
