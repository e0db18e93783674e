import { describe, expect, test } from "vitest";
import { MAX_IDLE_SESSIONS, MAX_LIVE_SESSIONS } from "../../../lib/definition/limits.ts";
import type { Ran } from "../../../lib/definition/sandbox.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { codeRunner } from "../../../lib/kernel/code/code-runner.ts";
import { type Life, Sessions } from "../../../lib/kernel/code/sessions.ts";
import { decide } from "../../../lib/kernel/decide.ts";
import type { Instance } from "../../../lib/kernel/instance.ts";
import { done, NO_ROOM, resultOf } from "../../support/code-play.ts";
import { aCode, aCodeDefinition, aCodeOn } from "../../support/code-workflow.ts";
import { aNew, BEGIN, givenAt, type Play, play } from "../../support/play.ts";
import { watched } from "../../support/watched-guest.ts";

const BODY = `const seen = [await task("a")]; seen.push(await task("b")); seen.push(uuid()); await task("c", seen);`;

const completed = (order: Play, type: string, result: number) =>
  ({ kind: "task-completed", ticket: order.task(type).id, variables: {}, result }) as const;

describe("live sessions", () => {
  test("spare replays: one session, one feed for each outcome", async () => {
    const { seen, load } = watched(BODY);
    const order = await play(aCodeOn(load));
    await done(order, "a", 1);
    await done(order, "b", 2);
    await done(order, "c");

    expect(seen).toEqual({ opened: 1, closed: 1, feeds: 4 });
  });

  test("are closed at once without room, and replay everything", async () => {
    const { seen, load } = watched(BODY);
    const order = await play(aCodeOn(load, NO_ROOM));
    await done(order, "a", 1);
    await done(order, "b", 2);
    await done(order, "c");

    expect(seen.opened).toBe(4);
    expect(seen.closed).toBe(4);
  });

  test("have a room of their own while their instance only waits", async () => {
    const { seen, load } = watched('await task("a"); await delay("1h"); await delay("1h");');
    const order = await play(aCodeOn(load, { live: 1, idle: 0 }));
    await done(order, "a");
    const idle = { ...seen };
    await order.fire("timer");

    expect(idle).toMatchObject({ opened: 1, closed: 1 });
    expect(seen.opened).toBe(2);
  });

  test("make room: the oldest goes first", async () => {
    const { seen, load } = watched('await delay("1h"); return 1;');
    const program = aCodeOn(load, { live: 1, idle: 2 });
    const orders = [];
    for (const id of ["i1", "i2", "i3"]) orders.push(await play(program, { as: { id } }));

    expect(seen).toMatchObject({ opened: 3, closed: 1 });
    for (const order of orders) await order.fire("timer");
    expect(orders.map(resultOf)).toEqual([1, 1, 1]);
    expect(seen.opened).toBe(4);
  });

  test("end with their instance", async () => {
    const cancelled = watched(BODY);
    await (await play(aCodeOn(cancelled.load))).cancel();
    const failed = watched('await task("a");');
    await (await play(aCodeOn(failed.load))).fail("a", { code: "C" });

    expect(cancelled.seen).toMatchObject({ opened: 1, closed: 1 });
    expect(failed.seen).toMatchObject({ opened: 1, closed: 1 });
  });

  test("remember what a fact led to while a step decides about it again", async () => {
    const { seen, load } = watched(BODY);
    const order = await play(aCodeOn(load));
    const fact = completed(order, "a", 1);

    const [first, second] = [await order.decide(fact), await order.decide(fact)];

    expect(second).toEqual(first);
    expect(seen).toMatchObject({ opened: 1, feeds: 2 });
  });

  test("remember a start as well", async () => {
    const { seen, load } = watched(BODY);
    const program = aCodeOn(load);
    const started = { kind: "started", input: { variables: {} } } as const;

    const first = await decide(program, aNew(program), started, givenAt(BEGIN));
    const second = await decide(program, aNew(program), started, givenAt(BEGIN));

    expect(second).toEqual(first);
    expect(seen.opened).toBe(1);
  });
});

describe("a plan that lost its commit", () => {
  const reference = async (result: number) => {
    const order = await play(aCode(BODY, NO_ROOM));
    await done(order, "a", result);
    await done(order, "b", 2);
    return order.instance;
  };

  test("D2: has moved its session, and does no harm to the plan after it", async () => {
    const order = await play(aCode(BODY));
    await order.decide(completed(order, "a", 666));

    await done(order, "a", 1);
    await done(order, "b", 2);

    expect(order.instance).toEqual(await reference(1));
  });

  test("D2: may have been two steps ahead", async () => {
    const order = await play(aCode(BODY));
    const stale = order.instance;
    await done(order, "a", 666);
    await order.decide(completed(order, "b", 667));
    order.instance = stale;

    await done(order, "a", 1);
    await done(order, "b", 2);

    expect(order.instance).toEqual(await reference(1));
  });

  test("D2: may be the same fact at another time", async () => {
    const order = await play(aCode('await task("a"); return Date.now();'));
    await order.decide(completed(order, "a", 1));
    order.now += 5_000;

    await order.deliver(completed(order, "a", 1));

    expect(resultOf(order)).toBe(BEGIN + 5_000);
  });

  test("D2: may be a start with another input", async () => {
    const program = aCode('await task("a", input);');
    const start = (input: number): Promise<{ instance: Instance }> =>
      decide(
        program,
        aNew(program),
        { kind: "started", input: { variables: {}, input } },
        givenAt(BEGIN),
      );

    await start(1);
    const { instance } = await start(2);

    const [ticket] = instance.tickets;
    if (ticket?.on !== "task") throw new Error("There is no task.");
    expect(program.runner.taskInput(instance, ticket).input).toBe(2);
  });

  test.each([
    [
      "another definition",
      (it: Instance) => ({ ...it, definition: { ...it.definition, hash: "h2" } }),
    ],
    ["another run", (it: Instance) => ({ ...it, runAt: instantFrom(BEGIN + 1) })],
    ["another start request", (it: Instance) => ({ ...it, startHash: "s2" })],
  ])("D2: is not taken for one of %s", async (_, change) => {
    const { seen, load } = watched(BODY);
    const program = aCodeOn(load);
    const started = { kind: "started", input: { variables: {} } } as const;

    await decide(program, aNew(program), started, givenAt(BEGIN));
    await decide(program, change(aNew(program)), started, givenAt(BEGIN));

    expect(seen.opened).toBe(2);
  });
});

describe("two decisions at once", () => {
  test("D2: have a session each, and decide the same", async () => {
    const { seen, load } = watched(BODY);
    const order = await play(aCodeOn(load));
    const fact = completed(order, "a", 1);

    const [one, two] = await Promise.all([order.decide(fact), order.decide(fact)]);
    await order.deliver(fact);
    await done(order, "b", 2);

    expect(two).toEqual(one);
    expect(seen).toMatchObject({ opened: 2, closed: 1 });
    expect(order.open).toEqual(["task c"]);
  });

  test("D2: about different facts leave the instance to whichever is committed", async () => {
    const order = await play(aCode('return all([task("a"), task("b")]);'));
    const facts = [completed(order, "a", 1), completed(order, "b", 2)] as const;

    await Promise.all(facts.map((fact) => order.decide(fact)));
    for (const fact of facts.toReversed()) await order.deliver(fact);

    expect(resultOf(order)).toEqual([1, 2]);
    expect(order.instance.journal?.entries.map(([n]) => n)).toEqual([2, 1]);
  });
});

describe("a room for sessions", () => {
  test.each([
    ["run", { runAt: instantFrom(1) }],
    ["definition", { definitionHash: "other" }],
    ["start", { startHash: "other" }],
  ] as const)("has none for another %s under the same id, and closes the old one", (_, other) => {
    const sessions = new Sessions();
    const closed: string[] = [];
    const enter = (name: string, life: Life) => {
      const guest = { run: async () => [], close: () => void closed.push(name) };
      sessions.checkIn(life, { guest, digest: "d", memos: [{ digest: "d", ran: NO_NEWS }], life });
    };
    enter("first", aLife({}));

    const found = [sessions.memo(aLife(other), "d"), sessions.checkOut(aLife(other), "d")];
    enter("second", aLife(other));

    expect([found, closed]).toEqual([[undefined, undefined], ["first"]]);
    expect(sessions.checkOut(aLife({}), "d")).toBeUndefined();
    expect(sessions.memo(aLife(other), "d")).toBe(NO_NEWS);
  });

  test.each([
    ["live", MAX_LIVE_SESSIONS],
    ["idle", MAX_IDLE_SESSIONS],
  ] as const)("has so much for %s ones: %i", (kind, most) => {
    const sessions = new Sessions();
    let closed = 0;
    const add = (n: number) => {
      const guest = { run: async () => [], close: () => void closed++ };
      const life = aLife({ id: `i${n}` });
      sessions.checkIn(life, { guest, digest: "d", memos: [], life });
      if (kind === "idle") sessions.rest(life);
      return closed;
    };

    const all = Array.from({ length: most + 1 }, (_, n) => add(n));

    expect(all.slice(-2)).toEqual([0, 1]);
  });

  test("can be shared by runners, and is made where none is given", async () => {
    const definition = aCodeDefinition();
    const sessions = new Sessions();
    const { seen, load } = watched(BODY);
    const shared = () => codeRunner({ definition, workflow: "workflow", load, sessions });
    const own = codeRunner({ definition, workflow: "workflow", load });
    const order = await play({ definition, runner: shared() });

    Object.assign(order, { program: { definition, runner: shared() } });
    await done(order, "a", 1);
    const before = seen.opened;
    Object.assign(order, { program: { definition, runner: own } });
    await done(order, "b", 2);

    expect([before, seen.opened]).toEqual([1, 2]);
  });
});

const NO_NEWS: Ran = { kind: "ran", operations: [] };

const aLife = (given: Partial<Life>): Life => ({
  id: "i1",
  runAt: instantFrom(0),
  definitionHash: "definition",
  startHash: "start",
  version: 1,
  ...given,
});
