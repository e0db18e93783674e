import { describe, expect, test } from "vitest";
import {
  anEnd,
  aPass,
  aProcess,
  aScope,
  aScript,
  aStart,
  aTask,
} from "../../support/graph-builder.ts";
import { play } from "../../support/play.ts";

type Mapped = NonNullable<Parameters<typeof aTask>[1]>;

const withTask = (mapped: Mapped) =>
  aProcess([aStart(), aTask("work", mapped), aTask("after")], ["start -> work -> after"]);

describe("input mappings", () => {
  const inputOf = async (inputs: Record<string, string>, variables = {}) =>
    (await play(withTask({ inputs }), { variables })).input("work");

  test("F67: create variables that only the element sees", async () => {
    const order = await play(withTask({ inputs: { sum: "=amount * 2" } }), {
      variables: { amount: 3 },
    });
    const inside = order.input("work");

    await order.complete("work");

    expect(inside).toEqual({ amount: 3, sum: 6 });
    expect(order.variables).toEqual({ amount: 3 });
  });

  test("run in order, each seeing the targets of those before it", async () => {
    const input = await inputOf({ a: "=amount + 1", b: "=a + 1" }, { amount: 1, a: 100 });

    expect(input).toEqual({ amount: 1, a: 2, b: 3 });
  });

  test("take static text as it is written", async () => {
    expect(await inputOf({ a: "1", b: "true" })).toEqual({ a: "1", b: "true" });
  });

  test("with nested targets build one new object, whatever the outer scopes have there", async () => {
    const input = await inputOf(
      { "order.id": "=id", "order.to.city": "=city" },
      { id: 7, city: "Ulm", order: { old: true } },
    );

    expect(input).toMatchObject({ order: { id: 7, to: { city: "Ulm" } } });
    expect(input.order).not.toHaveProperty("old");
  });

  test("let a later whole target replace a nested one, and a nested one a value that is no object", async () => {
    expect(await inputOf({ "a.b": "x", a: "y" })).toEqual({ a: "y" });
    expect(await inputOf({ a: "y", "a.b": "x" })).toEqual({ a: { b: "x" } });
    expect(await inputOf({ a: "=[1]", "a.b": "x" })).toEqual({ a: { b: "x" } });
    expect(await inputOf({ a: "=null", "a.b": "x" })).toEqual({ a: { b: "x" } });
  });

  test("write nothing when one of them fails; resolving runs all of them again", async () => {
    const inputs = { amount: "=amount + 1", bad: '=assert(amount, amount > 10, "small")' };
    const order = await play(withTask({ inputs }), { variables: { amount: 1 } });

    const incident = order.incident("work");
    await order.resolve("work", { variables: { amount: 20 } });

    expect(incident).toMatchObject({ type: "IO_MAPPING_ERROR", phase: "enter" });
    expect(incident.message).toContain('The mapping to "bad" failed');
    expect(order.input("work")).toEqual({ amount: 21, bad: 21 });
    expect(order.variables).toEqual({ amount: 20 });
  });
});

describe("a result", () => {
  test("is merged into the process if no scope has the name", async () => {
    const order = await play(withTask({}), { variables: { a: 1, b: 1 } });

    await order.complete("work", { b: 2, c: 3 });

    expect(order.variables).toEqual({ a: 1, b: 2, c: 3 });
  });

  test("stops at a local variable of the same name", async () => {
    const order = await play(withTask({ inputs: { a: "local" } }), { variables: { a: 1 } });

    await order.complete("work", { a: 2, b: 3 });

    expect(order.variables).toEqual({ a: 1, b: 3 });
  });

  test("goes to the nearest scope that has the name", async () => {
    const definition = aProcess(
      [
        aStart(),
        aScope("sub", [aStart("in"), aTask("a"), aTask("b")], ["in -> a -> b"], {
          inputs: { amount: "=amount" },
        }),
      ],
      ["start -> sub"],
    );
    const order = await play(definition, { variables: { amount: 1 } });

    await order.complete("a", { amount: 2, other: 3 });

    expect(order.input("b")).toEqual({ amount: 2, other: 3 });
    expect(order.variables).toEqual({ amount: 1, other: 3 });
  });
});

describe("output mappings", () => {
  const outcome = async (mapped: Mapped, variables: object, result: object) => {
    const order = await play(withTask(mapped), { variables: { ...variables } });
    await order.complete("work", { ...result });
    return order.variables;
  };

  test("F67: pass on what they map and nothing else", async () => {
    const after = await outcome({ outputs: { total: "=sum" } }, { a: 1 }, { sum: 5, noise: 1 });

    expect(after).toEqual({ a: 1, total: 5 });
  });

  test("see the raw result over the surroundings, and the targets before them over both", async () => {
    const outputs = { b: "=a", a: "=b + 1", c: "=a" };

    expect(await outcome({ outputs }, { a: 100 }, { a: 1 })).toEqual({ b: 1, a: 2, c: 2 });
  });

  test("with nested targets change their leaf and leave the siblings", async () => {
    const outputs = { "order.state": "=state", "order.to.zip": "=zip" };
    const order = { id: 7, to: { city: "Ulm" } };

    expect(await outcome({ outputs }, { order }, { state: "paid", zip: "89073" })).toEqual({
      order: { id: 7, state: "paid", to: { city: "Ulm", zip: "89073" } },
    });
  });

  test("with nested targets create the missing object", async () => {
    expect(await outcome({ outputs: { "new.leaf": "=x" } }, {}, { x: 1 })).toEqual({
      new: { leaf: 1 },
    });
  });

  test("write from the scope around the element upward, not into its own locals", async () => {
    const mapped = { inputs: { a: "local" }, outputs: { a: "=x" } };

    expect(await outcome(mapped, { a: 1 }, { x: 2 })).toEqual({ a: 2 });
  });

  test("that fail are an incident; resolving maps the kept result again", async () => {
    const outputs = { total: '=assert(sum, limit > 0, "no limit")' };
    const order = await play(withTask({ outputs }), { variables: { limit: 0 } });
    await order.complete("work", { sum: 5 });

    const { type, phase } = order.incident("work");
    const { open } = order;
    await order.resolve("work", { variables: { limit: 1 } });

    expect({ type, phase }).toEqual({ type: "IO_MAPPING_ERROR", phase: "complete" });
    expect(open).toEqual(["incident work"]);
    expect(order.open).toEqual(["task after"]);
    expect(order.variables).toEqual({ limit: 1, total: 5 });
  });

  test("of elements without a result map what they see", async () => {
    const definition = aProcess(
      [
        aStart(),
        aPass("note", { outputs: { seen: "=amount" } }),
        anEnd("end", { outputs: { last: "=seen + 1" } }),
      ],
      ["start -> note -> end"],
      { outputs: { done: "=last + 1" } },
    );

    const order = await play(definition, { variables: { amount: 1 } });

    expect(order.variables).toEqual({ amount: 1, seen: 1, last: 2, done: 3 });
  });
});

describe("a script", () => {
  test("maps its result like a task", async () => {
    const definition = aProcess(
      [aStart(), aScript("sum", "raw = 1 + 2", { outputs: { total: "=raw * 2" } })],
      ["start -> sum"],
    );

    expect((await play(definition)).variables).toEqual({ total: 6 });
  });

  test("that fails is an incident there; other branches go on", async () => {
    const definition = aProcess(
      [
        aStart(),
        aScript("sum", 'total = assert(amount, amount > 0, "nothing to add")'),
        aTask("beside"),
        aTask("next"),
      ],
      ["start -> sum", "start -> beside -> next"],
    );
    const order = await play(definition, { variables: { amount: 0 } });
    const { type } = order.incident("sum");

    await order.complete("beside");
    const { open } = order;
    await order.resolve("sum", { variables: { amount: 5 } });

    expect(type).toBe("EXTRACT_VALUE_ERROR");
    expect(open).toEqual(["incident sum", "task next"]);
    expect(order.variables).toEqual({ amount: 5, total: 5 });
  });

  test("draws other random values in each evaluation, and the same when decided again", async () => {
    const definition = aProcess(
      [aStart(), aScript("a", "a = random number()"), aScript("b", "b = random number()")],
      ["start -> a -> b"],
    );

    const one = await play(definition);
    const two = await play(definition);

    expect(one.variables.a).not.toBe(one.variables.b);
    expect(two.variables).toEqual(one.variables);
  });
});
