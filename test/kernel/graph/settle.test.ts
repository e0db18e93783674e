import { describe, expect, test } from "vitest";
import type { Definition } from "../../../lib/definition/definition.ts";
import { MAX_CONTINUATIONS, MAX_TRANSITIONS_PER_STEP } from "../../../lib/definition/limits.ts";
import { graphRunner } from "../../../lib/kernel/graph/graph-runner.ts";
import type { Settler } from "../../../lib/kernel/graph/settle.ts";
import type { Program } from "../../../lib/kernel/runner.ts";
import {
  aBoundaryTimer,
  aChoice,
  anEnd,
  aProcess,
  aScope,
  aScript,
  aSignalCatch,
  aStart,
  aTask,
} from "../../support/graph-builder.ts";
import { play } from "../../support/play.ts";
import { whenTrue } from "../../support/when-true.ts";

const settling = (definition: Definition, ...settlers: readonly Settler[]): Program => ({
  definition,
  runner: graphRunner(definition, settlers),
});

/** Two waits beside a task: the second is for a result of the first. */
const chained = aProcess(
  [
    aStart(),
    aTask("work"),
    aSignalCatch("first", "never"),
    aScript("b", "b = 1"),
    aSignalCatch("second", "never"),
    aTask("after"),
  ],
  ["start -> work", "start -> first -> b", "start -> second -> after"],
);
const conditions = whenTrue({ first: "a = 1", second: "b = 1" });

/** Counts to `limit` without ever waiting, beside a wait. */
const counting = aProcess(
  [
    aStart(),
    aScript("count", "n = n + 1"),
    aChoice("more", "more -> after"),
    aTask("after"),
    aSignalCatch("wait", "never"),
    aTask("settled"),
  ],
  [
    "start -> count -> more",
    "more -> count if n < limit",
    "more -> after",
    "start -> wait -> settled",
  ],
);

describe("the settle pass", () => {
  test("moves nothing while no condition holds", async () => {
    const order = await play(settling(chained, conditions));

    expect(order.open.toSorted()).toEqual(["signal first", "signal second", "task work"]);
  });

  test("runs after every fact and again after its own moves, until nothing can move", async () => {
    const order = await play(settling(chained, conditions));

    await order.complete("work", { a: 1 });

    expect(order.open).toEqual(["task after"]);
    expect(order.trail.filter((line) => line.startsWith("element-completed"))).toEqual([
      "element-completed start",
      "element-completed work",
      "element-completed first",
      "element-completed b",
      "element-completed second",
    ]);
  });

  test("runs when variables are set from outside", async () => {
    const order = await play(settling(chained, conditions));

    await order.deliver({ kind: "variables-patched", variables: { b: 1 } });

    expect(order.open.toSorted()).toEqual(["signal first", "task after", "task work"]);
  });

  test("does not run before everything that can move has moved", async () => {
    const seen: number[] = [];
    const watch: Settler = async ({ queue, tokens }) => {
      seen.push(queue.length);
      expect([...tokens.values()].map(({ node }) => node)).not.toContain("b");
    };

    const order = await play(settling(chained, watch, conditions), { variables: { a: 1 } });

    // One pass more than there were conditions that came true, one after the other.
    expect(seen).toEqual([0, 0, 0]);
    expect(order.open.toSorted()).toEqual(["task after", "task work"]);
  });

  test("does not run for an instance that has ended", async () => {
    const definition = aProcess([aStart(), anEnd()], ["start -> end"]);
    const never: Settler = () => Promise.reject(new Error("It has ended."));

    const order = await play(settling(definition, never));

    expect(order.status).toBe("succeeded success");
  });

  test("waits for the moves of a continuation, also when another fact comes meanwhile", async () => {
    const variables = { n: 0, limit: MAX_TRANSITIONS_PER_STEP, done: true };
    const settled = whenTrue({ wait: "done and n = limit" });
    const order = await play(settling(counting, settled), { variables });
    await order.deliver({ kind: "variables-patched", variables: { limit: 600 } });
    const during = order.open;

    await order.goOn();

    expect(during.toSorted()).toEqual(["continuation process", "signal wait"]);
    expect(order.open.toSorted()).toEqual(["task after", "task settled"]);
  });

  test("does not wait for moves whose tokens were interrupted since", async () => {
    const endless = aProcess(
      [
        aStart(),
        aScope(
          "sub",
          [aStart("in"), aScript("count", "n = n + 1"), aChoice("again", "again -> count")],
          ["in -> count -> again", "again -> count"],
        ),
        aBoundaryTimer("late", { on: "sub", duration: "PT1H" }),
        aSignalCatch("wait", "never"),
        aTask("settled"),
      ],
      ["start -> sub", "late -> wait -> settled"],
    );
    const order = await play(settling(endless, whenTrue({ wait: "true" })), {
      variables: { n: 0 },
    });

    await order.fire("late");

    expect(order.open).toEqual(["task settled"]);
  });

  test("that never ends is stopped by the limit of a step, and of continuations", async () => {
    const circle = aProcess(
      [aStart(), aSignalCatch("wait", "never")],
      ["start -> wait", "wait -> wait"],
    );
    const order = await play(settling(circle, whenTrue({ wait: "true" })));
    const { open } = order;

    const rounds = await order.goOn();

    expect(open).toContain("continuation process");
    expect(rounds).toBe(MAX_CONTINUATIONS);
    expect(order.incident("process").type).toBe("STEP_LIMIT");
  });
});
