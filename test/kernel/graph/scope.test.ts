import { describe, expect, test } from "vitest";
import {
  aChoice,
  aFork,
  anEnd,
  aProcess,
  aScope,
  aStart,
  aTask,
  aTerminateEnd,
  aTimer,
} from "../../support/graph-builder.ts";
import { BEGIN, play } from "../../support/play.ts";

describe("a sub-process", () => {
  const nested = aProcess(
    [
      aStart(),
      aScope("sub", [aStart("in"), aTask("a"), aTask("b")], ["in -> a", "in -> b"]),
      aTask("after"),
    ],
    ["start -> sub -> after"],
  );

  test("F55: completes when its last token is gone, and its results are merged", async () => {
    const order = await play(nested, { variables: { amount: 3 } });
    const { active } = order;

    await order.complete("a", { left: 1 });
    const half = order.open;
    await order.complete("b", { right: 2, amount: 4 });

    expect(active).toEqual(["sub", "a", "b"]);
    expect(half).toEqual(["task b"]);
    expect(order.open).toEqual(["task after"]);
    expect(order.variables).toEqual({ amount: 4, left: 1, right: 2 });
    expect(order.trail.slice(-5)).toEqual([
      "task-completed b",
      "element-completed b",
      "element-completed sub",
      "flow-taken sub -> after",
      "element-entered after",
    ]);
  });

  test("F55: hides the variables of its input mappings, and passes on what it maps", async () => {
    const definition = aProcess(
      [
        aStart(),
        aScope("sub", [aStart("in"), aTask("a")], ["in -> a"], {
          inputs: { amount: "=amount * 2", note: "inside" },
          outputs: { doubled: "=amount" },
        }),
        aTask("after"),
      ],
      ["start -> sub -> after"],
    );
    const order = await play(definition, { variables: { amount: 3 } });
    const seen = order.input("a");

    await order.complete("a", { amount: 7, extra: true });

    expect(seen).toEqual({ amount: 6, note: "inside" });
    expect(order.variables).toEqual({ amount: 3, doubled: 7, extra: true });
  });

  test("has its own joins, however often it runs at once", async () => {
    const definition = aProcess(
      [
        aStart(),
        aTask("first"),
        aTask("second"),
        aScope(
          "sub",
          [aStart("in"), aFork("fork"), aTask("a"), aTask("b"), aFork("join")],
          ["in -> fork", "fork -> a -> join", "fork -> b -> join"],
        ),
      ],
      ["start -> first -> sub", "start -> second -> sub"],
    );
    const order = await play(definition);
    await order.complete("first");
    await order.complete("second");

    await order.complete("a");
    await order.complete("a");

    expect(order.open).toEqual(["task b", "task b"]);
    await order.complete("b");
    expect(order.active).toEqual(["sub", "b"]);
    await order.complete("b");
    expect(order.status).toBe("succeeded success");
  });

  test("starts only at its start events", async () => {
    const deep = aProcess(
      [
        aStart(),
        aScope(
          "outer",
          [aStart("o"), aScope("inner", [aStart("i"), aTask("a")], ["i -> a"])],
          ["o -> inner"],
        ),
      ],
      ["start -> outer"],
    );
    const order = await play(deep);
    const { active } = order;

    await order.complete("a");

    expect(active).toEqual(["outer", "inner", "a"]);
    expect(order.status).toBe("succeeded success");
  });
});

describe("a terminate end event", () => {
  test("ends everything else in its scope; the scope then completes", async () => {
    const definition = aProcess(
      [
        aStart(),
        aScope(
          "sub",
          [
            aStart("in"),
            aFork("fork"),
            aTask("a"),
            aTask("b"),
            aTask("c"),
            aFork("join"),
            aTerminateEnd("stop"),
          ],
          ["in -> fork", "fork -> a -> stop", "fork -> b -> join", "fork -> c -> join"],
        ),
        aTask("after"),
        aTask("beside"),
      ],
      ["start -> sub -> after", "start -> beside"],
    );
    const order = await play(definition);
    await order.complete("b");

    await order.complete("a");

    expect(order.open).toEqual(["task beside", "task after"]);
    expect(order.trail).toContain("element-terminated c");
    expect(order.trail).toContain("element-completed stop");
    expect(order.trail).toContain("element-completed sub");
  });

  test("F64: of the process ends the instance, succeeded", async () => {
    const definition = aProcess(
      [aStart(), aTask("a"), aTimer("b", { duration: "P1D" }), aTerminateEnd("stop")],
      ["start -> a -> stop", "start -> b"],
    );
    const order = await play(definition, { deadline: BEGIN + 1_000 });

    await order.complete("a");

    expect(order.status).toBe("succeeded success");
    expect(order.instance.tickets).toEqual([]);
    expect(order.instance.completed).not.toContain("b");
  });
});

describe("an instance", () => {
  test("ends when its last branch does, wherever that is", async () => {
    const definition = aProcess(
      [aStart(), aChoice("gate", "gate -> b"), aTask("a"), aTask("b"), anEnd("e1"), anEnd("e2")],
      ["start -> gate", "gate -> a if false", "gate -> b", "a -> e1", "b -> e2"],
    );
    const order = await play(definition);

    await order.complete("b");

    expect(order.instance.completed).toEqual(["start", "gate", "b", "e2"]);
    expect(order.status).toBe("succeeded success");
  });
});
