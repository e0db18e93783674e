import { describe, expect, test } from "vitest";
import { anEnd, aProcess, aScope, aStart, aTask } from "../../support/graph-builder.ts";
import { play } from "../../support/play.ts";

const nested = aProcess(
  [
    aStart(),
    aScope("sub", [aStart("in"), aTask("inner")], ["in -> inner"], { inputs: { local: "=rate" } }),
    aTask("after"),
    anEnd(),
  ],
  ["start -> sub -> after -> end"],
);

/** Two tokens are at the same task. */
const doubled = aProcess(
  [aStart(), aTask("first"), anEnd()],
  ["start -> first -> end", "start -> first"],
);

describe("variables set from outside", () => {
  test("are those of the process, and nothing moves on", async () => {
    const order = await play(nested, { variables: { rate: 1 } });
    const { open } = order;

    await order.deliver({ kind: "variables-patched", variables: { rate: 2, extra: [true] } });

    expect(order.variables).toEqual({ rate: 2, extra: [true] });
    expect(order.open).toEqual(open);
    expect(order.instance.trail.entries.at(-1)).toMatchObject({
      type: "variables-patched",
      data: { names: ["rate", "extra"] },
    });
    expect(order.instance.trail.entries.at(-1)).not.toHaveProperty("element");
  });

  test("stay within the scope that is named", async () => {
    const order = await play(nested, { variables: { rate: 1 } });

    const variables = { local: 7, rate: 8 };
    await order.deliver({ kind: "variables-patched", variables, scope: "sub" });

    expect(order.input("inner")).toMatchObject({ local: 7, rate: 8 });
    expect(order.variables).toEqual({ rate: 1 });
    expect(order.trail.at(-1)).toBe("variables-patched sub");
  });

  test("are visible to a task that is open", async () => {
    const order = await play(nested, { variables: { rate: 1 } });

    await order.deliver({
      kind: "variables-patched",
      variables: { rate: 3 },
      scope: "inner",
    });

    expect(order.input("inner")).toMatchObject({ rate: 3, local: 1 });
  });

  test.each([
    ["an element that is not open", nested, "after", "open 0 times"],
    ["an element that is open twice", doubled, "first", "open 2 times"],
  ])("of %s are refused, and an incident says so", async (_, definition, scope, message) => {
    const order = await play(definition, { variables: { rate: 1 } });

    await order.deliver({ kind: "variables-patched", variables: { rate: 2 }, scope });

    expect(order.variables).toEqual({ rate: 1 });
    const incident = order.instance.tickets.find(({ on }) => on === "incident");
    expect(incident).toMatchObject({ message: expect.stringContaining(message) });
  });

  test("count the open occurrences of an element, without the process", async () => {
    const order = await play(doubled);
    const { runner } = order.program;

    const counts = ["first", "end", doubled.id].map((id) => runner.occurrences(order.instance, id));

    expect(counts).toEqual([2, 0, 0]);
  });

  test("of an instance that has ended change nothing", async () => {
    const order = await play(nested);
    await order.cancel();
    const before = order.instance;

    await order.deliver({ kind: "variables-patched", variables: { rate: 2 } });

    expect(order.instance).toEqual(before);
  });

  test("are refused while the process itself could not start", async () => {
    const order = await play(nested, { variables: { rate: 1 } });
    order.instance = { ...order.instance, state: null };

    await order.deliver({ kind: "variables-patched", variables: { rate: 2 } });

    const incident = order.instance.tickets.find(({ on }) => on === "incident");
    expect(incident).toMatchObject({
      message: expect.stringContaining("The process is open 0 times"),
    });
  });
});
