import { describe, expect, test } from "vitest";
import type { Json } from "../../../lib/definition/json.ts";
import {
  MAX_LOOP_MEMBERS,
  MAX_MEMBERS_AT_ONCE,
  MAX_TRANSITIONS_PER_STEP,
} from "../../../lib/definition/limits.ts";
import {
  aBoundaryError,
  aBoundaryMessage,
  aBoundaryTimer,
  aLoop,
  aMessageCatch,
  anEnd,
  anErrorEnd,
  aProcess,
  aScope,
  aScript,
  aSignalThrow,
  aStart,
  aTask,
  aTerminateEnd,
  type Piece,
} from "../../support/graph-builder.ts";
import { type Play, play } from "../../support/play.ts";

/** The loop is between a start and a task; its boundary events lead to another task. */
const around = (looping: Piece, ...border: readonly Piece[]) =>
  aProcess(
    [aStart(), looping, aTask("after"), ...border, ...(border.length > 0 ? [aTask("late")] : [])],
    [
      `start -> ${looping.nodes[0]?.id} -> after`,
      ...border.map(({ nodes }) => `${nodes[0]?.id} -> late`),
    ],
  );

const gathering = aLoop({ gathers: "=result", preset: "result" });

/** The input of each open task of this element. */
const inputs = (order: Play, element: string): readonly Json[] =>
  order.instance.tickets.flatMap((ticket) =>
    ticket.on === "task" && ticket.element === element
      ? [order.program.runner.taskInput(order.instance, ticket).variables]
      : [],
  );

/** Completes the open task of this element for this item. */
async function completeItem(order: Play, item: Json, variables = {}): Promise<void> {
  for (const ticket of order.instance.tickets) {
    if (ticket.on !== "task") continue;
    const seen = order.program.runner.taskInput(order.instance, ticket).variables;
    if (seen.item !== item) continue;
    await order.deliver({ kind: "task-completed", ticket: ticket.id, variables });
    return;
  }
  throw new Error(`nothing works on ${JSON.stringify(item)}`);
}

describe("a loop", () => {
  test.each([
    ["one by one", { sequential: true } as const],
    ["all at once", {}],
  ])("F58: collects its counter, and shows it to the task: %s", async (_, how) => {
    const loop = aLoop({ gathers: "=loopCounter", preset: "loopCounter", ...how });
    const items = ["x", "y", "z"];
    const order = await play(around(aTask("a", { loop })), { variables: { items } });
    const seen: Json[] = [];

    for (const _ of items) {
      seen.push(order.input("a").loopCounter ?? null);
      await order.complete("a");
    }

    expect(seen).toEqual([1, 2, 3]);
    expect(order.variables).toEqual({ items, results: [1, 2, 3] });
  });

  test("F58: runs a list in parallel, and collects the results in its order", async () => {
    const order = await play(around(aTask("a", { loop: gathering })), {
      variables: { items: ["x", "y", "z"], result: "mine" },
    });
    const seen = inputs(order, "a");

    await completeItem(order, "z", { result: "Z" });
    await completeItem(order, "x", { result: "X" });
    const half = [order.open, order.variables];
    await completeItem(order, "y", { result: "Y" });

    expect(seen).toEqual(
      ["x", "y", "z"].map((item, n) => ({
        items: ["x", "y", "z"],
        item,
        loopCounter: n + 1,
        result: null,
      })),
    );
    expect(half).toEqual([["task a"], { items: ["x", "y", "z"], result: "mine" }]);
    expect(order.open).toEqual(["task after"]);
    expect(order.variables).toEqual({
      items: ["x", "y", "z"],
      result: "mine",
      results: ["X", "Y", "Z"],
    });
  });

  test("F58: runs a list one by one, and keeps the list as it was", async () => {
    const order = await play(around(aTask("a", { loop: { ...gathering, sequential: true } })), {
      variables: { items: [1, 2, 3] },
    });
    const first = [order.open, order.input("a")];

    await order.complete("a", { result: "one", items: [] });
    const second = [order.open, order.input("a").item];
    await order.complete("a", { result: "two" });
    await order.complete("a", { result: "three" });

    expect(first).toEqual([
      ["task a"],
      { items: [1, 2, 3], item: 1, loopCounter: 1, result: null },
    ]);
    expect(second).toEqual([["task a"], 2]);
    expect(order.variables).toEqual({ items: [], results: ["one", "two", "three"] });
    expect(order.trail.filter((line) => /^[a-z-]+ a$/.test(line))).toEqual([
      "element-entered a",
      "element-entered a",
      "task-completed a",
      "element-completed a",
      "element-entered a",
      "task-completed a",
      "element-completed a",
      "element-entered a",
      "task-completed a",
      "element-completed a",
      "element-completed a",
    ]);
  });

  test.each([undefined, true] as const)(
    "F58: over an empty list completes at once",
    async (sequential) => {
      const loop = { ...gathering, ...(sequential && { sequential }) };

      const order = await play(around(aTask("a", { loop })), { variables: { items: [] } });

      expect(order.open).toEqual(["task after"]);
      expect(order.variables).toEqual({ items: [], results: [] });
    },
  );

  test("F58: without an output, merges results like a task", async () => {
    const order = await play(around(aTask("a", { loop: aLoop({ as: "" }) })), {
      variables: { items: [1, 2] },
    });
    const seen = inputs(order, "a");

    await order.complete("a", { left: 1 });
    await order.complete("a", { right: 2 });

    expect(seen).toEqual([
      { items: [1, 2], loopCounter: 1 },
      { items: [1, 2], loopCounter: 2 },
    ]);
    expect(order.variables).toEqual({ items: [1, 2], left: 1, right: 2 });
  });

  test("maps inputs and outputs of each item within the item", async () => {
    const order = await play(
      around(
        aTask("a", {
          loop: aLoop({ gathers: "=doubled", preset: "doubled" }),
          inputs: { amount: "=item * 10" },
          outputs: { doubled: "=answer * 2", "last.amount": "=amount" },
        }),
      ),
      { variables: { items: [1, 2], last: { kept: true } } },
    );
    const seen = inputs(order, "a").map((input) => (input as { amount: Json }).amount);

    await order.complete("a", { answer: 21 });
    await order.complete("a", { answer: 4 });

    expect(seen).toEqual([10, 20]);
    expect(order.variables).toEqual({
      items: [1, 2],
      last: { kept: true, amount: 20 },
      results: [42, 8],
    });
  });

  test("F58: ends the others when its condition holds: 1 of 3", async () => {
    const order = await play(
      around(
        aTask("a", {
          loop: aLoop({
            gathers: "=result",
            preset: "result",
            until: "=numberOfCompletedInstances = 1",
          }),
        }),
      ),
      { variables: { items: [1, 2, 3] } },
    );

    await completeItem(order, 2, { result: "two" });

    expect(order.open).toEqual(["task after"]);
    expect(order.variables.results).toEqual([null, "two", null]);
    expect(order.trail.filter((line) => line === "element-terminated a")).toHaveLength(2);
  });

  test("shows its counters to its condition, even if variables have the same names", async () => {
    const until =
      "=if numberOfInstances = 4 and numberOfActiveInstances = 2 and numberOfTerminatedInstances = 0 and loopCounter = 1 then count(results[item != null]) = 2 else false";
    const order = await play(around(aTask("a", { loop: aLoop({ gathers: "=item", until }) })), {
      variables: { items: [1, 2, 3, 4], numberOfInstances: 99, results: "mine" },
    });

    await completeItem(order, 3);
    const half = order.open.length;
    await completeItem(order, 1);

    expect(half).toBe(3);
    expect(order.open).toEqual(["task after"]);
    expect(order.variables.results).toEqual([1, null, 3, null]);
  });

  test("F58: stops with an incident if an item fails, and continues when that is resolved", async () => {
    const order = await play(
      around(aTask("a", { retries: "1", loop: { ...gathering, sequential: true } })),
      { variables: { items: [1, 2] } },
    );

    await order.fail("a");
    const stopped = order.open;
    await order.resolve("a", { variables: { item: "mended" } });
    const again = order.input("a").item;
    await order.complete("a", { result: 1 });
    await order.complete("a", { result: 2 });

    expect(stopped).toEqual(["incident a"]);
    expect(again).toBe("mended");
    expect(order.variables).toEqual({ items: [1, 2], results: [1, 2] });
  });

  test("F58: continues other items beside an incident", async () => {
    const order = await play(around(aTask("a", { retries: "1", loop: aLoop() })), {
      variables: { items: [1, 2] },
    });

    await order.fail("a");
    await order.complete("a");
    const half = order.open;
    await order.resolve("a");
    await order.complete("a");

    expect(half).toEqual(["incident a"]);
    expect(order.open).toEqual(["task after"]);
  });

  test.each([
    ["output", aLoop({ gathers: "=1 +" })],
    ["condition", aLoop({ until: "=missing" })],
  ])("keeps an item whose %s cannot be computed", async (_, loop) => {
    const order = await play(around(aTask("a", { loop })), { variables: { items: [1, 2] } });

    await order.complete("a", {});

    expect(order.incident("a")).toMatchObject({ type: "EXTRACT_VALUE_ERROR", phase: "leave" });
    expect(order.open).toEqual(["task a", "incident a"]);
    const resolved = await order.resolve("a", { variables: { missing: false } });
    expect(resolved.changed).toBe(true);
  });

  test.each([
    ["no list", "=1", "EXTRACT_VALUE_ERROR"],
    ["nothing", "=missing", "EXTRACT_VALUE_ERROR"],
  ])("over %s is an incident that can be resolved", async (_, over, type) => {
    const order = await play(around(aTask("a", { loop: aLoop({ over }) })));

    expect(order.incident("a").type).toBe(type);
    await order.resolve("a", { variables: { missing: [] } });
    expect(order.open).toEqual([over === "=1" ? "incident a" : "task after"]);
  });

  test("is interrupted as a whole by a boundary event, and then collects nothing", async () => {
    const order = await play(
      around(
        aTask("a", { loop: gathering }),
        aBoundaryTimer("late-timer", { on: "a", duration: "PT1H" }),
      ),
      { variables: { items: [1, 2] } },
    );
    const waits = order.open;
    await completeItem(order, 1, { result: 1 });

    await order.fire("late-timer");

    expect(waits).toEqual(["timer late-timer", "task a", "task a"]);
    expect(order.open).toEqual(["task late"]);
    expect(order.variables).toEqual({ items: [1, 2] });
  });

  test("throws an error of an item to the boundary of the body", async () => {
    const order = await play(
      around(aTask("a", { loop: aLoop() }), aBoundaryError("refused", { on: "a", code: "NO" })),
      { variables: { items: [1, 2, 3] } },
    );

    await order.fail("a", { code: "NO" });

    expect(order.open).toEqual(["task late"]);
    expect(order.active).toEqual(["late"]);
  });

  test("does not start when another instance waits for the message of its boundary event", async () => {
    const order = await play(
      around(
        aTask("a", { loop: aLoop() }),
        aBoundaryMessage("stop", { on: "a", name: "stop", key: "k" }),
      ),
      { variables: { items: [1] }, taken: ["stop/k"] },
    );

    expect(order.open).toEqual(["incident a"]);
    expect(order.incident("a").type).toBe("UNHANDLED_ERROR_EVENT");
  });

  test("of waits opens one for each item, with its own key", async () => {
    const order = await play(
      around({
        nodes: aMessageCatch("a", "paid", "=item", { loop: gathering }).nodes,
        flows: [],
      }),
      { variables: { items: ["k1", "k2"] } },
    );
    const keys = order.instance.tickets.flatMap((it) => (it.on === "message" ? [it.key] : []));

    await order.message("a", { result: 1 });
    await order.message("a", { result: 2 }, "m2");

    expect(keys).toEqual(["k1", "k2"]);
    expect(order.variables.results).toEqual([1, 2]);
  });

  test("of a script needs no worker, and a long one continues in further steps", async () => {
    const items = Array.from({ length: MAX_TRANSITIONS_PER_STEP + 50 }, (_, n) => n);
    const order = await play(
      around(aScript("a", "result = item * 2", { loop: { ...gathering, sequential: true } })),
      { variables: { items } },
    );
    const rounds = await order.goOn();

    expect(rounds).toBeGreaterThan(0);
    expect(order.variables.results).toEqual(items.map((n) => n * 2));
  });

  test("has a limit on its list, and says so", async () => {
    const list = (length: number) => ({ items: Array.from({ length }, () => 0) });
    const definition = around(aTask("a", { loop: aLoop() }));

    const most = await play(definition, { variables: list(MAX_LOOP_MEMBERS) });
    const more = await play(definition, { variables: list(MAX_LOOP_MEMBERS + 1) });

    expect(most.open).toEqual(["family a"]);
    expect(more.incident("a")).toMatchObject({
      type: "TOO_MANY_OPEN_TICKETS",
      message: expect.stringContaining("8193 entries, 8192 is the limit"),
    });
  });
});

describe("a loop over a sub-process", () => {
  const looping = (...more: Parameters<typeof aScope>) => around(aScope(...more));
  const inner = (loop = gathering) =>
    looping(
      "sub",
      [aStart("in"), aTask("a"), aTask("b"), aTerminateEnd("stop")],
      ["in -> a -> stop", "in -> b"],
      { loop },
    );

  test("F58: gives each its own scope, and a terminate end event ends only that one", async () => {
    const order = await play(inner(), { variables: { items: [1, 2] } });
    const seen = inputs(order, "b");

    await completeItem(order, 1, { result: "first" });
    const half = [order.open, order.active];
    await order.complete("b", { result: "ignored" });
    await order.complete("a", { result: "second" });

    expect(seen).toMatchObject([
      { item: 1, loopCounter: 1 },
      { item: 2, loopCounter: 2 },
    ]);
    expect(half).toEqual([
      ["task a", "task b"],
      ["sub", "a", "b"],
    ]);
    expect(order.variables).toEqual({ items: [1, 2], results: ["first", "second"] });
  });

  test("has a limited number active, and starts the next when one completes", async () => {
    const items = Array.from({ length: MAX_MEMBERS_AT_ONCE + 2 }, (_, n) => n);
    const order = await play(
      looping("sub", [aStart("in"), aTask("a")], ["in -> a"], { loop: aLoop() }),
      {
        variables: { items },
      },
    );
    await order.goOn();
    const first = order.open.length;

    await order.complete("a");
    const next = order.open.length;
    for (const _ of items.slice(1)) await order.complete("a");

    expect([first, next]).toEqual([MAX_MEMBERS_AT_ONCE, MAX_MEMBERS_AT_ONCE]);
    expect(order.open).toEqual(["task after"]);
  });

  test("throws an error of an item through the body", async () => {
    const order = await play(
      around(
        aScope("sub", [aStart("in"), aTask("a"), anErrorEnd("no", "NO")], ["in -> a -> no"], {
          loop: aLoop(),
        }),
        aBoundaryError("refused", { on: "sub", code: "NO" }),
      ),
      { variables: { items: [1, 2] } },
    );

    await order.complete("a");

    expect(order.open).toEqual(["task late"]);
  });

  test("passes on the signals that its items have thrown", async () => {
    const order = await play(
      looping(
        "sub",
        [aStart("in"), aSignalThrow("throw", "s"), anEnd("out")],
        ["in -> throw -> out"],
        {
          loop: aLoop(),
        },
      ),
      { variables: { items: [1, 2] }, holdsBack: true },
    );

    expect(order.open).toEqual(["task after"]);
    expect(JSON.stringify(order.instance.state)).toContain('"thrown":["e1.1","e1.2"]');
  });

  test("may be inside another", async () => {
    const order = await play(
      looping(
        "sub",
        [
          aStart("in"),
          aTask("a", { loop: aLoop({ over: "=item", as: "one", gathers: "=one * 2" }) }),
        ],
        ["in -> a"],
        { loop: aLoop({ gathers: "=results", preset: "results" }) },
      ),
      { variables: { items: [[1, 2], [], [3]] } },
    );

    for (let n = 0; n < 3; n += 1) await order.complete("a");

    expect(order.variables.results).toEqual([[2, 4], [], [6]]);
  });
});
