import { describe, expect, test } from "vitest";
import { MAX_PAYLOAD_BYTES, MAX_WAITS_PER_STEP } from "../../../lib/definition/limits.ts";
import { parseState } from "../../../lib/kernel/graph/state.ts";
import type { Instance } from "../../../lib/kernel/instance.ts";
import {
  aBoundaryError,
  aBoundarySignal,
  aBoundaryTimer,
  aFork,
  anEnd,
  anErrorEnd,
  anEventGateway,
  aPass,
  aProcess,
  aScope,
  aScript,
  aSignalCatch,
  aSignalEnd,
  aSignalThrow,
  aStart,
  aTask,
  aTimer,
} from "../../support/graph-builder.ts";
import { type Play, play } from "../../support/play.ts";

const signalsOf = ({ outbox }: Instance) =>
  outbox.flatMap(({ id, effect }) =>
    effect.kind === "publish-signal" ? [{ id, name: effect.name, payload: effect.payload }] : [],
  );

/** Nothing that is thrown is sent. */
const held = { holdsBack: true } as const;

describe("a signal that is thrown", () => {
  const throwing = aProcess(
    [
      aStart(),
      aSignalThrow("call", "closed", { inputs: { reason: "=why", place: "here" } }),
      aTask("after"),
    ],
    ["start -> call -> after"],
  );

  test("F37: is sent once, with the input mappings alone, and control continues at once", async () => {
    const order = await play(throwing, { variables: { why: "flood", secret: 1 }, ...held });

    const [thrown] = signalsOf(order.instance);
    const said = order.instance.trail.entries.find(({ type }) => type === "signal-thrown");

    expect(signalsOf(order.instance)).toEqual([
      { id: "e1.1", name: "closed", payload: { reason: "flood", place: "here" } },
    ]);
    expect(said).toMatchObject({
      element: "call",
      data: { broadcastId: `i1:${thrown?.id}`, name: "closed" },
    });
    expect(order.open).toEqual(["task after"]);
    expect(order.variables).toEqual({ why: "flood", secret: 1 });
  });

  test("has no payload if nothing is mapped", async () => {
    const order = await play(
      aProcess(
        [aStart(), aSignalThrow("call", "closed"), aTask("after")],
        ["start -> call -> after"],
      ),
      { variables: { secret: 1 }, ...held },
    );

    expect(signalsOf(order.instance)).toMatchObject([{ payload: {} }]);
  });

  test("F37: by an end event is sent too, and the instance ends", async () => {
    const order = await play(
      aProcess(
        [aStart(), aSignalEnd("done", "closed", { inputs: { n: "=1" } })],
        ["start -> done"],
      ),
      held,
    );

    expect(order.status).toBe("succeeded success");
    expect(signalsOf(order.instance)).toMatchObject([{ name: "closed", payload: { n: 1 } }]);
  });

  test("without a name is an incident, and is sent when that is resolved", async () => {
    const order = await play(
      aProcess(
        [aStart(), aSignalThrow("call", "=name"), aTask("after")],
        ["start -> call -> after"],
      ),
      held,
    );
    const before = signalsOf(order.instance);

    await order.resolve("call", { variables: { name: "closed" } });

    expect(before).toEqual([]);
    expect(signalsOf(order.instance)).toMatchObject([{ name: "closed" }]);
  });

  test.each([
    ["event", aSignalThrow("call", "=name")],
    ["end event", aSignalEnd("call", "=name")],
  ])("by an %s is an incident when its name cannot be computed", async (_, call) => {
    const order = await play(aProcess([aStart(), call], ["start -> call"]), {
      variables: { name: "\ud800" },
      ...held,
    });

    expect(order.incident("call")).toMatchObject({ type: "EXTRACT_VALUE_ERROR", phase: "enter" });
    expect(signalsOf(order.instance)).toEqual([]);
  });

  test("may be as large as the limit says; one byte more is an incident", async () => {
    const definition = aProcess(
      [aStart(), aSignalThrow("call", "closed", { inputs: { t: "=text" } }), aTask("after")],
      ["start -> call -> after"],
    );
    const room = MAX_PAYLOAD_BYTES - JSON.stringify({ t: "" }).length;

    const fits = await play(definition, { variables: { text: `ü${"x".repeat(room - 2)}` } });
    const over = await play(definition, { variables: { text: `ü${"x".repeat(room - 1)}` } });

    expect(fits.open).toEqual(["task after"]);
    expect(over.incident("call")).toMatchObject({ type: "IO_MAPPING_ERROR", phase: "enter" });
    expect(over.incident("call").message).toContain("100001 bytes, 100000 is the limit");
  });

  test("in a loop without a wait stops the step at the limit", async () => {
    const order = await play(
      aProcess([aStart(), aSignalThrow("call", "closed")], ["start -> call -> call"]),
      held,
    );

    expect(signalsOf(order.instance)).toHaveLength(MAX_WAITS_PER_STEP);
    expect(order.open).toEqual(["continuation process"]);
  });

  test("counts like a wait: a step stops before waits that would be more than the limit", async () => {
    const borders = Array.from({ length: MAX_WAITS_PER_STEP - 1 }, (_, at) =>
      aBoundarySignal(`b${at}`, { on: "work", name: `b${at}` }),
    );
    const [one, two] = [aSignalThrow("one", "closed"), aSignalEnd("two", "closed")];
    const once = await play(
      aProcess([aStart(), one, aTask("work"), ...borders], ["start -> one -> work"]),
      held,
    );
    const twice = await play(
      aProcess(
        [aStart(), one, two, aPass("then"), aTask("work"), ...borders],
        ["start -> one", "start -> two", "start -> then -> work"],
      ),
      held,
    );

    expect(once.open).toHaveLength(MAX_WAITS_PER_STEP);
    expect(twice.open).toEqual(["continuation process"]);
    expect(signalsOf(twice.instance)).toHaveLength(2);
  });
});

/** The broadcasts that the wait of an element ignores. */
const notIds = (order: Play, element: string) => order.waitForSignal(element).notIds ?? [];

const thrownBy = (order: Play) => signalsOf(order.instance).map(({ id }) => `i1:${id}`);

describe("a path that throws a signal", () => {
  test("does not catch itself, and catches the next one", async () => {
    const order = await play(
      aProcess(
        [aStart(), aSignalThrow("call", "closed"), aSignalCatch("wait", "closed"), aTask("after")],
        ["start -> call -> wait -> after"],
      ),
      held,
    );
    const [own = ""] = thrownBy(order);

    const itself = await order.signal("wait", { broadcastId: own });
    const next = await order.signal("wait", { broadcastId: "b2", seq: 2 });

    expect(itself.changed).toBe(false);
    expect(next.changed).toBe(true);
  });

  test("may be caught by a parallel branch, whatever its own wait says", async () => {
    const order = await play(
      aProcess(
        [
          aStart(),
          aFork("both"),
          aSignalThrow("call", "closed"),
          aSignalCatch("own", "closed"),
          aSignalCatch("other", "closed"),
        ],
        ["start -> both -> call -> own", "both -> other"],
      ),
      held,
    );
    const [broadcastId = ""] = thrownBy(order);

    expect(notIds(order, "own")).toEqual([broadcastId]);
    expect(order.waitForSignal("other")).not.toHaveProperty("notIds");
    expect((await order.signal("own", { broadcastId })).changed).toBe(false);
    expect((await order.signal("other", { broadcastId })).changed).toBe(true);
  });

  test("remembers it as long as it may be in delivery, across tasks and timers", async () => {
    const definition = aProcess(
      [
        aStart(),
        aSignalThrow("call", "closed"),
        aTask("work"),
        aTimer("pause", { duration: "PT1H" }),
        aSignalCatch("wait", "closed"),
      ],
      ["start -> call -> work -> pause -> wait"],
    );
    const slow = await play(definition, held);
    const quick = await play(definition);
    for (const order of [slow, quick]) {
      await order.complete("work");
      await order.fire("pause");
    }

    expect(notIds(slow, "wait")).toEqual(thrownBy(slow));
    expect(quick.waitForSignal("wait")).not.toHaveProperty("notIds");
    expect(JSON.stringify(quick.instance.state)).not.toContain("thrown");
  });

  test("forgets each signal when its delivery ends, and not before", async () => {
    const order = await play(
      aProcess(
        [
          aStart(),
          aSignalThrow("one", "a"),
          aTask("work"),
          aSignalThrow("two", "b"),
          aSignalCatch("wait", "closed"),
        ],
        ["start -> one -> work -> two -> wait"],
      ),
    );
    order.holdsBack = true;

    await order.complete("work");

    expect(notIds(order, "wait")).toEqual(thrownBy(order));
    expect(thrownBy(order)).toHaveLength(1);
  });

  test("remembers it through a fork and a join, all that came together", async () => {
    const order = await play(
      aProcess(
        [
          aStart(),
          aSignalThrow("before", "closed"),
          aFork("split"),
          aSignalThrow("left", "closed"),
          aTask("right"),
          aFork("join"),
          aSignalCatch("wait", "closed"),
        ],
        ["start -> before -> split -> left -> join", "split -> right -> join -> wait"],
      ),
      held,
    );
    const [root] = parseState(order.instance.state).tokens;

    await order.complete("right");

    expect(root?.joining).toEqual({ "left -> join": expect.any(Array) });
    expect(notIds(order, "wait").toSorted()).toEqual(thrownBy(order).toSorted());
    expect(thrownBy(order)).toHaveLength(2);
    expect(parseState(order.instance.state).tokens[0]).not.toHaveProperty("joining");
  });

  test("forgets at a join what was delivered before the others come", async () => {
    const order = await play(
      aProcess(
        [
          aStart(),
          aFork("split"),
          aSignalThrow("left", "closed"),
          aTask("right"),
          aFork("join"),
          aSignalCatch("wait", "closed"),
        ],
        ["start -> split -> left -> join", "split -> right -> join -> wait"],
      ),
    );

    await order.complete("right");

    expect(order.waitForSignal("wait")).not.toHaveProperty("notIds");
  });

  test("leaves nothing at a join when the instance is cancelled", async () => {
    const order = await play(
      aProcess(
        [aStart(), aFork("split"), aSignalThrow("left", "closed"), aTask("right"), aFork("join")],
        ["start -> split -> left -> join", "split -> right -> join"],
      ),
      held,
    );

    await order.cancel();

    expect(parseState(order.instance.state).tokens).toEqual([
      { id: 0, node: "process", in: 0, variables: {} },
    ]);
  });

  test("keeps at a join what waits for the next round", async () => {
    const order = await play(
      aProcess(
        [
          aStart(),
          aFork("split"),
          aSignalThrow("left", "closed"),
          aSignalThrow("more", "closed"),
          aTask("again"),
          aTask("right"),
          aFork("join"),
          aSignalCatch("wait", "closed"),
        ],
        [
          "start -> split -> left -> again",
          "split -> more -> again -> join",
          "split -> right -> join -> wait",
        ],
      ),
      held,
    );
    await order.complete("again");
    await order.complete("again");

    await order.complete("right");

    const [root] = parseState(order.instance.state).tokens;
    expect(root?.joins).toEqual({ "again -> join": 1 });
    expect(root?.joining).toEqual({
      "again -> join": signalsOf(order.instance).map(({ id }) => id),
    });
    expect(notIds(order, "wait")).toHaveLength(2);
  });

  test("remembers it into a scope and out of it again", async () => {
    const order = await play(
      aProcess(
        [
          aStart(),
          aSignalThrow("before", "closed"),
          aScope(
            "inside",
            [
              aStart("in"),
              aSignalCatch("first", "closed"),
              aSignalThrow("call", "closed"),
              anEnd("out"),
            ],
            ["in -> first -> call -> out"],
          ),
          aSignalCatch("second", "closed"),
        ],
        ["start -> before -> inside -> second"],
      ),
      held,
    );
    const first = notIds(order, "first");

    await order.signal("first");

    expect(first).toEqual(thrownBy(order).slice(0, 1));
    expect(notIds(order, "second")).toEqual(thrownBy(order));
    expect(thrownBy(order)).toHaveLength(2);
  });

  test("remembers it if a signal end event closes the scope", async () => {
    const order = await play(
      aProcess(
        [
          aStart(),
          aScope("inside", [aStart("in"), aSignalEnd("out", "closed")], ["in -> out"]),
          aSignalCatch("wait", "closed"),
        ],
        ["start -> inside -> wait"],
      ),
      held,
    );

    expect(notIds(order, "wait")).toEqual(thrownBy(order));
  });

  test("remembers it through an event-based gateway", async () => {
    const order = await play(
      aProcess(
        [
          aStart(),
          aSignalThrow("call", "closed"),
          anEventGateway("first"),
          aSignalCatch("a", "closed"),
          aTimer("b", { duration: "PT1H" }),
          aSignalCatch("wait", "closed"),
        ],
        ["start -> call -> first -> a", "first -> b -> wait"],
      ),
      held,
    );
    const atGateway = notIds(order, "a");

    await order.fire("b");

    expect(atGateway).toEqual(thrownBy(order));
    expect(notIds(order, "wait")).toEqual(thrownBy(order));
  });

  const hosted = (border: ReturnType<typeof aBoundaryTimer>) =>
    aProcess(
      [
        aStart(),
        aSignalThrow("before", "closed"),
        aScope(
          "host",
          [aStart("in"), aSignalThrow("inner", "closed"), aTask("work"), anErrorEnd("bad", "E")],
          ["in -> inner -> work -> bad"],
        ),
        border,
        aSignalCatch("wait", "closed"),
      ],
      ["start -> before -> host", "border -> wait"],
    );

  test("remembers it through an interrupting boundary event, with all signals thrown in its host", async () => {
    const order = await play(
      hosted(aBoundaryTimer("border", { on: "host", duration: "PT1H" })),
      held,
    );

    await order.fire("border");

    expect(notIds(order, "wait")).toEqual(thrownBy(order));
    expect(thrownBy(order)).toHaveLength(2);
  });

  test("remembers it through a caught error", async () => {
    const order = await play(hosted(aBoundaryError("border", { on: "host", code: "E" })), held);

    await order.complete("work");

    expect(notIds(order, "wait")).toEqual(thrownBy(order));
  });

  test("is not that of a non-interrupting boundary event, which inherits what came before the host", async () => {
    const order = await play(
      hosted(aBoundarySignal("border", { on: "host", name: "other", interrupting: false })),
      held,
    );

    await order.signal("border");

    expect(notIds(order, "wait")).toEqual(thrownBy(order).slice(0, 1));
  });

  test("may interrupt its own scope: the boundary event was open before", async () => {
    const order = await play(
      hosted(aBoundarySignal("border", { on: "host", name: "closed" })),
      held,
    );
    const [, inner = ""] = thrownBy(order);

    const own = await order.signal("border", { broadcastId: inner });

    expect(own.changed).toBe(true);
    expect(order.open).toEqual(["signal wait"]);
  });

  test("leaves nothing in a state that has thrown nothing", async () => {
    const order = await play(
      aProcess(
        [aStart(), aScript("x", "a = 1"), aSignalCatch("wait", "closed")],
        ["start -> x -> wait"],
      ),
      held,
    );

    expect(parseState(order.instance.state).tokens).toEqual([
      { id: 0, node: "process", in: 0, variables: { a: 1 } },
      { id: 3, node: "wait", in: 0 },
    ]);
  });
});
