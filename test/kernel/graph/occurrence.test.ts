import { describe, expect, test } from "vitest";
import type { TrailEntry } from "../../../lib/kernel/trail.ts";
import { aBoundaryTimer, aLoop, aProcess, aStart, aTask } from "../../support/graph-builder.ts";
import { committed, type Play, play } from "../../support/play.ts";

/** The history of an element, in order: `"entered 3"`. */
const visitsOf = ({ instance }: Play, element: string): readonly string[] =>
  instance.trail.entries
    .filter((entry) => entry.element === element && entry.type.startsWith("element-"))
    .map(({ type, occurrence }) => `${type.slice("element-".length)} ${occurrence}`);

const numbersOf = (order: Play, type: TrailEntry["type"]): readonly (number | undefined)[] =>
  order.instance.trail.entries
    .filter((entry) => entry.type === type)
    .map(({ occurrence }) => occurrence);

const looping = (size: number, more: Readonly<{ sequential?: true; until?: string }> = {}) => ({
  definition: aProcess(
    [
      aStart(),
      aTask("a", { loop: aLoop(more) }),
      aTask("after"),
      aBoundaryTimer("late", { on: "a", duration: "PT1H" }),
    ],
    ["start -> a -> after"],
  ),
  variables: { items: Array.from({ length: size }, (_, n) => n) },
});

describe("an occurrence", () => {
  test("of an element in a cycle of the graph differs at each visit", async () => {
    const definition = aProcess([aStart(), aTask("a"), aTask("b")], ["start -> a -> b", "b -> a"]);
    const order = await play(definition);

    for (const element of ["a", "b", "a", "b"]) await order.complete(element);

    expect(visitsOf(order, "a")).toEqual([
      "entered 2",
      "completed 2",
      "entered 4",
      "completed 4",
      "entered 6",
    ]);
    expect(numbersOf(order, "task-completed")).toEqual([2, 3, 4, 5]);
  });

  test("of each item of a loop, and of its body, is distinct", async () => {
    const { definition, variables } = looping(2);
    const order = await play(definition, { variables });

    const [first, second] = order.instance.tickets.filter(({ on }) => on === "task");
    for (const ticket of [second, first]) {
      await order.deliver({ kind: "task-completed", ticket: ticket?.id ?? "", variables: {} });
    }

    expect(visitsOf(order, "a")).toEqual([
      "entered 2",
      "entered 3",
      "entered 4",
      "completed 4",
      "completed 3",
      "completed 2",
    ]);
    expect(numbersOf(order, "task-completed")).toEqual([4, 3]);
  });

  test("of an item of a batch stays the same when it becomes a token", async () => {
    const { definition, variables } = looping(12);
    const order = await play(definition, { variables });

    await order.failMember("a", 5, { attempt: 1, retries: 1 });
    await order.complete("a");
    await order.completeMember("a", 11);
    await order.completeMember("a", 0);

    expect(visitsOf(order, "a").slice(0, 13)).toEqual(
      Array.from({ length: 13 }, (_, n) => `entered ${n + 2}`),
    );
    expect(visitsOf(order, "a").slice(13)).toEqual(["completed 8", "completed 14", "completed 3"]);
    expect(numbersOf(order, "task-failed")).toEqual([8]);
  });

  test("of the items that a boundary event interrupts are recorded one by one", async () => {
    const { definition, variables } = looping(12);
    const order = await play(definition, { variables });
    await order.completeMember("a", 1);

    await order.fire("late");

    const left = [3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14].map((n) => `terminated ${n}`);
    expect(visitsOf(order, "a").slice(14)).toEqual([...left, "terminated 2"]);
  });

  test("of a batch that format 4 has started is recorded if there is one", async () => {
    const { definition, variables } = looping(12);
    const order = await play(definition, { variables });
    const text = JSON.stringify(order.instance);
    const before = JSON.parse(text.replace(/,"first":\d+/, "").replace(/,"occurrence":\d+/g, ""));
    order.instance = committed({ ...before });

    await order.completeMember("a", 3);
    await order.fire("late");

    const told = visitsOf(order, "a").slice(13);
    expect(told[0]).toBe("completed 15");
    expect(told.slice(1)).toEqual([...Array(11).fill("terminated undefined"), "terminated 2"]);
  });
});
