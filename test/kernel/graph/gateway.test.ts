import { describe, expect, test } from "vitest";
import {
  aChoice,
  aFork,
  anEnd,
  aPass,
  aProcess,
  aStart,
  aTask,
} from "../../support/graph-builder.ts";
import { play } from "../../support/play.ts";

describe("an exclusive gateway", () => {
  const choice = (otherwise?: string) =>
    aProcess(
      [aStart(), aChoice("gate", otherwise), aTask("big"), aTask("huge"), aTask("small")],
      [
        "start -> gate",
        "gate -> big if amount > 10",
        "gate -> huge if amount > 100",
        "gate -> small if amount < 0",
      ],
    );
  const withDefault = choice("gate -> small");

  test("F50: takes the first flow whose condition holds, in the order of the source", async () => {
    const order = await play(withDefault, { variables: { amount: 500 } });

    expect(order.open).toEqual(["task big"]);
  });

  test("F50: takes the default when no condition holds, without evaluating it", async () => {
    const order = await play(withDefault, { variables: { amount: 5 } });

    expect(order.open).toEqual(["task small"]);
  });

  test("F50: without a flow to take is an incident; resolving evaluates again", async () => {
    const order = await play(choice(), { variables: { amount: 5 } });

    const { type, phase } = order.incident("gate");
    await order.resolve("gate", { variables: { amount: 11 } });

    expect({ type, phase }).toEqual({ type: "CONDITION_ERROR", phase: "leave" });
    expect(order.open).toEqual(["task big"]);
    expect(order.trail.filter((line) => line === "element-entered gate")).toHaveLength(1);
  });

  test.each([
    ["null", { amount: "a lot" }],
    ["null for a missing variable", {}],
  ])("F50: treats a condition that gives %s as an incident, not as false", async (_, variables) => {
    const order = await play(withDefault, { variables });

    expect(order.incident("gate").type).toBe("EXTRACT_VALUE_ERROR");
    expect(order.incident("gate").message).toContain("amount > 10");
  });

  test("takes a single flow that has no condition", async () => {
    const definition = aProcess([aStart(), aChoice("merge"), anEnd()], ["start -> merge -> end"]);

    expect((await play(definition)).status).toBe("succeeded success");
  });

  test("without any flow ends there", async () => {
    const order = await play(aProcess([aStart(), aChoice("last")], ["start -> last"]));

    expect(order.status).toBe("succeeded success");
  });

  test("passes every incoming token", async () => {
    const definition = aProcess(
      [aStart(), aPass("a"), aPass("b"), aChoice("merge"), aTask("twice")],
      ["start -> a -> merge", "start -> b -> merge", "merge -> twice"],
    );

    expect((await play(definition)).open).toEqual(["task twice", "task twice"]);
  });
});

describe("a parallel gateway", () => {
  const forked = aProcess(
    [aStart(), aFork("fork"), aTask("a"), aTask("b"), aFork("join"), aTask("after")],
    ["start -> fork", "fork -> a -> join", "fork -> b -> join", "join -> after"],
  );

  test("F51: starts all branches and waits for each of them", async () => {
    const order = await play(forked);
    const { open } = order;

    await order.complete("a");
    const half = order.open;
    await order.complete("b");

    expect(open).toEqual(["task a", "task b"]);
    expect(half).toEqual(["task b"]);
    expect(order.open).toEqual(["task after"]);
    expect(order.trail.filter((line) => line === "element-entered join")).toHaveLength(1);
  });

  test.each([
    ["a", "b"],
    ["b", "a"],
  ])(
    "F51: merges variable by variable, %s then %s: what completes later wins",
    async (one, two) => {
      const order = await play(forked, { variables: { kept: 0 } });

      await order.complete(one, { who: one, [one]: true });
      await order.complete(two, { who: two, [two]: true });

      expect(order.variables).toEqual({ kept: 0, who: two, a: true, b: true });
    },
  );

  test("keeps surplus tokens of a flow for the next round", async () => {
    const definition = aProcess(
      [aStart(), aTask("a1"), aTask("a2"), aTask("b1"), aTask("b2")].concat([
        aPass("a"),
        aPass("b"),
        aFork("join"),
        aTask("after"),
      ]),
      [
        "start -> a1 -> a -> join",
        "start -> a2 -> a",
        "start -> b1 -> b -> join",
        "start -> b2 -> b",
        "join -> after",
      ],
    );
    const order = await play(definition);

    await order.complete("a1");
    await order.complete("a2");
    const none = order.open;
    await order.complete("b1");
    const one = order.open;
    await order.complete("b2");

    expect(none).toEqual(["task b1", "task b2"]);
    expect(one).toEqual(["task b2", "task after"]);
    expect(order.open).toEqual(["task after", "task after"]);
  });

  test("may join and split at once", async () => {
    const definition = aProcess(
      [aStart(), aPass("a"), aPass("b"), aFork("both"), aTask("c"), aTask("d")],
      ["start -> a -> both", "start -> b -> both", "both -> c", "both -> d"],
    );

    expect((await play(definition)).open).toEqual(["task c", "task d"]);
  });

  test("keeps two joins of one scope separate", async () => {
    const definition = aProcess(
      [aStart(), aTask("a"), aTask("b"), aTask("c"), aFork("j1"), aFork("j2"), aTask("after")],
      ["start -> a -> j1", "start -> b -> j2", "start -> c -> j1", "j1 -> j2 -> after"],
    );
    const order = await play(definition);
    await order.complete("b");
    await order.complete("a");

    await order.complete("c");

    expect(order.open).toEqual(["task after"]);
  });

  test("that can never complete is an incident, not an instance that waits for ever", async () => {
    const definition = aProcess(
      [aStart(), aChoice("gate", "gate -> b"), aTask("a"), aTask("b"), aFork("join"), anEnd()],
      ["start -> gate", "gate -> a if amount > 10", "gate -> b", "a -> join", "b -> join -> end"],
    );
    const order = await play(definition, { variables: { amount: 1 } });
    await order.complete("b");

    const { type, message } = order.incident("process");
    await order.resolve("process");

    expect(type).toBe("DEADLOCK");
    expect(message).toContain("b -> join");
    expect(order.incident("process").type).toBe("DEADLOCK");
  });
});

describe("several outgoing flows", () => {
  test("are taken in parallel", async () => {
    const definition = aProcess([aStart(), aTask("a"), aTask("b")], ["start -> a", "start -> b"]);

    const order = await play(definition);
    const { open } = order;
    await order.complete("a");
    const half = order.status;
    await order.complete("b");

    expect(open).toEqual(["task a", "task b"]);
    expect(half).toBe("live");
    expect(order.status).toBe("succeeded success");
  });
});
