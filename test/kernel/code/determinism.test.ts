import { describe, expect, test } from "vitest";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { NO_ROOM, resultOf, run } from "../../support/code-play.ts";
import { aCode } from "../../support/code-workflow.ts";
import { BEGIN, type Play, play } from "../../support/play.ts";

const DRAWS = `const draw = () => [Math.random(), random(), uuid(), crypto.randomUUID()];
  const seen: unknown[] = [draw()]; await delay("1h"); seen.push(draw()); await delay("1h"); return seen;`;

const twice = async (it: Play) => {
  await it.fire("timer");
  await it.fire("timer");
};

describe("chance in a workflow", () => {
  test("D2: is the same when it is replayed, and never draws the same twice", async () => {
    const order = await run(DRAWS, twice);

    const draws = resultOf(order) as readonly (readonly (number | string)[])[];

    expect(new Set(draws.flat()).size).toBe(8);
    expect(draws[0]?.[2]).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  test.each([
    ["another instance", { id: "i2" }],
    ["another start", { startedAt: instantFrom(BEGIN + 1) }],
    ["another run of the same instance", { runAt: instantFrom(BEGIN + 1) }],
  ])("is another in %s", async (_, as) => {
    const one = await run(DRAWS, twice);
    const other = await run(DRAWS, twice, { as });

    expect(resultOf(other)).not.toEqual(resultOf(one));
  });

  test("does not depend on the version of the instance", async () => {
    const one = await run(DRAWS, twice);
    const other = await run(DRAWS, async (it) => {
      for (const name of ["a", "b"]) await it.send({ ...EVENT, id: name, name });
      await twice(it);
    });

    expect(other.instance.version).toBe(one.instance.version + 2);
    expect(resultOf(other)).toEqual(resultOf(one));
  });
});

const EVENT = {
  payload: null,
  at: BEGIN,
  expiresAt: instantFrom(BEGIN + 1_000),
  onTargetTerminated: "discard",
} as const;

describe("time in a workflow", () => {
  const CLOCKS = `const clocks = () => [Date.now(), new Date().getTime(), now().getTime()];
    const seen = [clocks()]; await task("a"); seen.push(clocks()); await task("b"); return seen;`;

  test("D2: is that of its steps, however late they are replayed", async () => {
    const order = await run(CLOCKS, async (it) => {
      it.now += 1_000;
      await it.complete("a");
      it.now += 86_400_000;
      await it.complete("b");
    });

    expect(resultOf(order)).toEqual([
      [BEGIN, BEGIN, BEGIN],
      [BEGIN + 1_000, BEGIN + 1_000, BEGIN + 1_000],
    ]);
  });

  test("stands still within a step", async () => {
    const order = await run(
      "const from = Date.now(); for (let n = 0; n < 1e5; n++); return Date.now() - from;",
    );

    expect(resultOf(order)).toBe(0);
  });

  test("begins with the run", async () => {
    const runAt = instantFrom(BEGIN + 5_000);
    const order = await run("return Date.now();", undefined, { as: { runAt } });

    expect(resultOf(order)).toBe(BEGIN + 5_000);
  });
});

describe("a replay", () => {
  const LONG = `
    const seen: unknown[] = [];
    for (let n = 0; n < 6; n++) {
      const got = await race({ a: task("a", { n, id: uuid() }), e: event("e"), t: delay("1h") });
      seen.push(got.key, Math.random());
      try { await all([task("b", seen.length), task("c")]); } catch (error: any) { seen.push(error.code); }
    }
    return seen;`;

  /** Steps that depend on what is open only. */
  const step = async (it: Play, n: number) => {
    it.now += 1_000;
    const [first = ""] = it.open;
    if (first.startsWith("task a")) {
      if (n % 3 === 0) await it.complete("a", { n });
      else if (n % 3 === 1) await it.event("event:e", { eventId: `e${n}`, seq: n + 1, payload: n });
      else await it.fire("timer");
    } else if (n % 4 === 0) await it.fail("c", { code: "C" });
    else await it.complete(first.slice("task ".length), { n });
  };

  test("D1: D2: after any step gives the same journal, state and result, to the byte", async () => {
    const reference = await play(aCode(LONG));
    for (let n = 0; n < 20 && reference.status === "live"; n++) await step(reference, n);

    for (let crash = 0; crash < 20; crash++) {
      const order = await play(aCode(LONG));
      for (let n = 0; n < 20 && order.status === "live"; n++) {
        const { runner } = n === crash ? aCode(LONG) : order.program;
        Object.assign(order, { program: { ...order.program, runner } });
        await step(order, n);
      }

      expect(JSON.stringify(order.instance)).toBe(JSON.stringify(reference.instance));
    }
    expect(reference.status).toBe("succeeded success");
  });

  test("D2: of a workflow that was started without an input gives it none again", async () => {
    const order = await run(
      'const before = typeof input; await task("a"); return [before, typeof input];',
      (it) => it.complete("a"),
      { isBare: true },
    );

    expect(resultOf(order)).toEqual(["undefined", "undefined"]);
  });

  test("D2: publishes nothing again, and disarms nothing again", async () => {
    const published: number[] = [];
    await run(
      'await race([task("a"), delay("1h")]); publishSignal("s"); await task("b"); await task("c");',
      async (it) => {
        it.holdsBack = true;
        for (const type of ["a", "b", "c"]) await it.complete(type);
        const effects = it.instance.outbox.map(({ effect }) => effect.kind);
        published.push(effects.filter((kind) => kind === "publish-signal").length);
      },
    );

    expect(published).toEqual([1, 1]);
  });

  test("D2: at every step gives the same, with room for few sessions as well", async () => {
    const images = [];
    for (const room of [undefined, NO_ROOM, { live: 1, idle: 0 }, { live: 0, idle: 1 }]) {
      const order = await play(aCode(LONG, room));
      for (let n = 0; n < 20 && order.status === "live"; n++) await step(order, n);
      images.push(JSON.stringify(order.instance));
    }

    expect(new Set(images).size).toBe(1);
  });
});
