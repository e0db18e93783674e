import { describe, expect, test } from "vitest";
import { feelLanguage } from "../../../lib/adapters/feelin/feel-expressions.ts";
import { type ExpressionLanguage, FEEL } from "../../../lib/definition/expression.ts";
import { MAX_TICKETS_OF_FAILED } from "../../../lib/definition/limits.ts";
import { findTicket, itemName, itemsClosed, itemsOf, openIn } from "../../../lib/kernel/batch.ts";
import { decide, decideIncident } from "../../../lib/kernel/decide.ts";
import {
  aBoundaryError,
  aBoundaryMessage,
  aBoundaryTimer,
  aLoop,
  aProcess,
  aStart,
  aTask,
  type Piece,
} from "../../support/graph-builder.ts";
import { aNew, aProgram, BEGIN, committed, givenAt, type Play, play } from "../../support/play.ts";

const N = 12;
const items = Array.from({ length: N }, (_, n) => n);
const all = (size: number) => Array.from({ length: size }, (_, n) => n);

const around = (looping: Piece, ...border: readonly Piece[]) =>
  aProcess(
    [aStart(), looping, aTask("after"), ...border, ...(border.length > 0 ? [aTask("late")] : [])],
    ["start -> a -> after", ...border.map(({ nodes }) => `${nodes[0]?.id} -> late`)],
  );

const gathering = aLoop({ gathers: "=result", preset: "result" });

const inputOf = (order: Play, member: number) => {
  const name = itemName(order.family("a").id, member);
  const task = findTicket(order.instance.tickets, name);
  if (task?.on !== "task") throw new Error(`${name} is no open task`);
  return order.program.runner.taskInput(order.instance, task);
};

describe("the tokens shown to a reader", () => {
  test("are counted if several paths are at one element", async () => {
    const order = await play(
      aProcess([aStart(), aTask("a"), aTask("b")], ["start -> a", "start -> a", "start -> b"]),
    );

    expect(order.tokens).toEqual([
      { element: "a", count: 2 },
      { element: "b", count: 1 },
    ]);
    expect(order.active).toEqual(["a", "b"]);
  });

  test("are one for each open item of a loop, whether they share a ticket or not", async () => {
    const shared = await play(around(aTask("a", { loop: aLoop() })), { variables: { items } });
    const apart = await play(around(aTask("a", { loop: aLoop() })), {
      variables: { items: [1, 2] },
    });
    const before = [shared.tokens, apart.tokens];

    await shared.completeMember("a", 3);

    expect(before).toEqual([[{ element: "a", count: N }], [{ element: "a", count: 2 }]]);
    expect(shared.tokens).toEqual([{ element: "a", count: N - 1 }]);
    expect(shared.active).toEqual(["a"]);
  });
});

describe("a batch", () => {
  test("reports which of its items are open, and which a step has closed", async () => {
    const order = await play(around(aTask("a", { loop: gathering })), { variables: { items } });
    const before = order.family("a");
    await order.completeMember("a", 3);
    const after = order.family("a");
    const numbers = (tasks: ReturnType<typeof itemsOf>) => tasks.map(({ member }) => member);

    expect(numbers(itemsOf(after))).toEqual(items.filter((n) => n !== 3));
    expect(numbers(itemsOf(after, { from: 2, to: 5 }))).toEqual([2, 4]);
    expect(numbers(itemsOf(after, { from: 10, to: 100 }))).toEqual([10, 11]);
    expect(numbers(itemsClosed(before, after))).toEqual([3]);
    expect(numbers(itemsClosed(after, undefined))).toEqual(items.filter((n) => n !== 3));
    const lease = { trigger: "start", owner: null, expiresAt: BEGIN };
    expect(itemsOf({ ...after, lease })[0]?.lease).toEqual(lease);
    expect(itemsOf(before)[0]).not.toHaveProperty("lease");
  });

  test("F58: is one ticket, and collects the results of its items in the order of the list", async () => {
    const order = await play(around(aTask("a", { loop: gathering })), { variables: { items } });
    const { open } = order;

    for (const n of items.toReversed()) {
      await order.completeMember("a", n, { result: n * 2, last: n });
    }

    expect(open).toEqual(["family a"]);
    expect(order.open).toEqual(["task after"]);
    expect(order.variables).toEqual({ items, results: items.map((n) => n * 2), last: 0 });
    expect(order.trail.filter((line) => line === "element-entered a")).toHaveLength(N + 1);
    expect(order.trail.filter((line) => line === "element-completed a")).toHaveLength(N + 1);
  });

  test("gives each item its entry, its number and its mapped inputs", async () => {
    const order = await play(
      around(
        aTask("a", {
          loop: gathering,
          inputs: { label: '="n" + string(item)' },
          headers: { h: "1" },
        }),
      ),
      { variables: { items } },
    );

    expect(inputOf(order, 3)).toEqual({
      variables: { items, item: 3, loopCounter: 4, result: null, label: "n3" },
      headers: { h: "1" },
    });
  });

  test.each(["loopCounter", "item"])("collects its own outputs: %s", async (name) => {
    const loop = aLoop({ gathers: `=${name}`, preset: name });
    const order = await play(around(aTask("a", { loop })), { variables: { items } });
    const given = items.map((n) => inputOf(order, n).variables[name]);

    for (const n of items) await order.completeMember("a", n);

    expect(given).toEqual(items.map((n) => (name === "item" ? n : n + 1)));
    expect(order.variables.results).toEqual(given);
  });

  test("counts an item once, however often it is reported (race 49)", async () => {
    const order = await play(around(aTask("a", { loop: gathering })), { variables: { items } });
    await order.completeMember("a", 5, { result: "first" });

    const twice = await order.completeMember("a", 5, { result: "second" });
    const failed = await order.failMember("a", 5);
    const beyond = await order.completeMember("a", N, {});

    expect([twice.changed, failed.changed, beyond.changed]).toEqual([false, false, false]);
    expect(openIn(order.family("a"))).toBe(N - 1);
  });

  test("cannot be claimed as a whole: its items can", async () => {
    const order = await play(around(aTask("a", { loop: gathering })), { variables: { items } });
    const ticket = `${order.family("a").id}#0`;

    const claimed = await order.deliver({ kind: "task-claimed", ticket, attempt: 1, claim: "x" });

    expect(claimed.changed).toBe(false);
  });

  test("F58: ends the rest when its completion condition holds", async () => {
    const until = "=numberOfCompletedInstances = 3 and numberOfActiveInstances = 9";
    const order = await play(around(aTask("a", { loop: aLoop({ gathers: "=item", until }) })), {
      variables: { items },
    });

    for (const n of [11, 0, 4]) await order.completeMember("a", n);

    expect(order.open).toEqual(["task after"]);
    expect(order.variables.results).toEqual(items.map((n) => ([11, 0, 4].includes(n) ? n : null)));
    expect(order.trail.filter((line) => line === "element-terminated a")).toHaveLength(N - 3);
  });

  test("leaves nothing behind when its body is interrupted", async () => {
    const order = await play(
      around(aTask("a", { loop: aLoop() }), aBoundaryTimer("t", { on: "a", duration: "PT1H" })),
      { variables: { items } },
    );
    const ticket = `${order.family("a").id}#1`;

    await order.fire("t");
    const late = await order.deliver({ kind: "task-completed", ticket, variables: {} });

    expect(order.open).toEqual(["task late"]);
    expect(late.changed).toBe(false);
    expect(order.trail.filter((line) => line === "element-terminated a")).toHaveLength(N + 1);
  });

  test("throws an item's error to the boundary of its body", async () => {
    const order = await play(
      around(aTask("a", { loop: aLoop() }), aBoundaryError("e", { on: "a", code: "NO" })),
      { variables: { items } },
    );

    await order.failMember("a", 2, { code: "NO", variables: { why: "so" } });

    expect(order.open).toEqual(["task late"]);
  });

  test("F58: has an incident for an item that failed, and resolves it alone", async () => {
    const order = await play(around(aTask("a", { loop: gathering })), { variables: { items } });
    await order.failMember("a", 7, { variables: { seen: true } });
    for (const n of items) if (n !== 7) await order.completeMember("a", n, { result: n });
    const stopped = [order.open, order.incident("a").message, order.incident("a").type];

    await order.resolve("a", { retries: 2 });
    const again = [order.open, order.input("a"), order.task("a").retries];
    await order.complete("a", { result: "mended" });

    expect(stopped).toEqual([
      ["family a", "incident a"],
      "Entry 8 of the list: it broke",
      "JOB_NO_RETRIES",
    ]);
    expect(again).toEqual([
      ["family a", "task a"],
      { items, item: 7, loopCounter: 8, result: null, seen: true },
      2,
    ]);
    expect(order.variables.results).toEqual(items.map((n) => (n === 7 ? "mended" : n)));
  });

  test("has an incident for an error that is not caught", async () => {
    const order = await play(around(aTask("a", { loop: gathering })), { variables: { items } });

    await order.failMember("a", 7, { code: "NO" });

    expect(order.incident("a")).toMatchObject({ type: "UNHANDLED_ERROR_EVENT", phase: "run" });
    expect(openIn(order.family("a"))).toBe(N - 1);
  });

  test("moves an item that is retried to its own task ticket", async () => {
    const order = await play(around(aTask("a", { loop: gathering, backoff: "PT10S" })), {
      variables: { items },
    });

    await order.deliver({
      kind: "task-failed",
      ticket: `${order.family("a").id}#3`,
      attempt: 1,
      message: "not now",
    });

    expect(order.task("a")).toMatchObject({ attempt: 2, retries: 2, notBefore: BEGIN + 10_000 });
    expect(order.input("a").item).toBe(3);
    expect(openIn(order.family("a"))).toBe(N - 1);
  });

  test("has one incident for all failures beyond the limit of an instance", async () => {
    const size = MAX_TICKETS_OF_FAILED + 40;
    const order = await play(around(aTask("a", { loop: aLoop() })), {
      variables: { items: all(size) },
    });
    for (const n of all(size)) await order.failMember("a", n, n % 2 === 0 ? {} : { code: "NO" });
    const { tickets } = order.instance;
    const shared = tickets.flatMap((it) => (it.on === "incident" && it.members ? [it] : []));

    expect(tickets.length).toBeLessThan(MAX_TICKETS_OF_FAILED + 3);
    expect(shared.map(({ members }) => members?.numbers.length)).toEqual([21, 20]);
    for (const { id } of shared) {
      await order.deliver({ kind: "incident-resolved", ticket: id, retries: 5 });
    }
    expect(openIn(order.family("a"))).toBe(41);
    expect(order.family("a")).toMatchObject({ retries: 5 });
  });

  test("continues the others when an item's outcome cannot be stored", async () => {
    const order = await play(around(aTask("a", { loop: gathering })), { variables: { items } });
    const { id } = order.family("a");
    const why = { type: "STATE_TOO_LARGE", message: "too much" } as const;
    for (const n of [1, 2]) {
      const fact = { kind: "task-completed", ticket: `${id}#${n}`, variables: {} } as const;
      const given = givenAt(order.now);
      const { instance } = decideIncident(order.program, order.instance, { fact, why }, given);
      order.instance = { ...instance, version: instance.version + 1 };
    }
    const stopped = [order.open, openIn(order.family("a"))];

    await order.resolve("a");

    expect(stopped).toEqual([["family a", "incident a"], N - 2]);
    expect(order.open).toEqual(["family a"]);
    expect(openIn(order.family("a"))).toBe(N);
  });

  test("reports for which entry an input cannot be computed", async () => {
    const order = await play(
      around(aTask("a", { loop: aLoop(), inputs: { x: "=assert(item, item < 5)" } })),
      { variables: { items } },
    );

    expect(order.incident("a")).toMatchObject({
      type: "IO_MAPPING_ERROR",
      message: expect.stringContaining("Entry 6 of the list: "),
    });
  });

  test.each([
    ["types", { type: '="t" + string(item)' }],
    ["numbers of attempts", { retries: "=item + 1" }],
    ["no attempts", { retries: "0" }],
  ])("is not used for tasks with different %s", async (_, options) => {
    const order = await play(around(aTask("a", { ...options, loop: aLoop() })), {
      variables: { items },
    });

    expect(order.open.filter((it) => it === "family a")).toEqual([]);
    expect(order.open).toHaveLength(N);
  });

  test("may have a computed type, if it is the same for all", async () => {
    const order = await play(around(aTask("a", { type: "=kind", loop: aLoop() })), {
      variables: { items, kind: "charge" },
    });

    expect(order.family("a")).toMatchObject({ type: "charge", size: N });
  });
});

describe("a loop whose state was damaged", () => {
  test.each([
    ["no body", { body: undefined }, "is no body of a loop"],
    ["an element without a loop", { node: "after" }, '"after" of process is no loop'],
  ])("raises an incident if it has %s", async (_, change, message) => {
    const order = await play(around(aTask("a", { loop: gathering })), { variables: { items } });
    const state = JSON.parse(JSON.stringify(order.instance.state));
    Object.assign(state.tokens[1], change);
    order.instance = committed({ ...order.instance, state: JSON.parse(JSON.stringify(state)) });

    await order.completeMember("a", 3);

    const incidents = order.instance.tickets.filter(({ on }) => on === "incident");
    expect(incidents).toMatchObject([
      { type: "UNKNOWN", message: expect.stringContaining(message) },
    ]);
  });
});

describe("a loop", () => {
  test("passes on an entry that is null, and externalizes large inputs", async () => {
    const looping = aTask("a", { loop: gathering, inputs: { label: '="n"' } });
    const order = await play(around(looping), { variables: { items: items.map(() => null) } });

    const { variables } = inputOf(order, 2);
    const places = order.program.runner.places(order.instance.state);

    expect(variables).toMatchObject({ item: null, label: "n" });
    expect(places.map((place) => place.slice(2).join("."))).toContain("body.inputs");
  });

  test("does not start if another instance waits for the message of its boundary event", async () => {
    const paid = aBoundaryMessage("late", { on: "a", name: "paid" });
    const order = await play(
      aProcess(
        [
          aStart(),
          aTask("a", { loop: gathering }),
          paid,
          aBoundaryError("clash", { on: "a", code: "correlation-taken" }),
          aTask("after"),
        ],
        ["start -> a -> after", "late -> after", "clash -> after"],
      ),
      { variables: { items }, taken: ["paid/"] },
    );

    expect(order.open).toEqual(["task after"]);
    expect(order.trail).toContain("error-caught clash");
  });

  test("raises an incident for an unexpected error while its inputs are mapped", async () => {
    const program = aProgram(around(aTask("a", { loop: gathering, inputs: { label: "=boom" } })));
    const feel = feelLanguage();
    const broken: ExpressionLanguage = {
      ...feel,
      evaluate: (text, ...rest) => {
        if (text.includes("boom")) throw new Error("broken");
        return feel.evaluate(text, ...rest);
      },
    };
    const started = { kind: "started", input: { variables: { items } } } as const;

    const given = givenAt(BEGIN, new Map([[FEEL, broken]]));

    const { instance } = await decide(program, aNew(program), started, given);

    expect(instance.tickets).toMatchObject([
      { on: "incident", type: "UNKNOWN", message: "broken" },
    ]);
  });
});
