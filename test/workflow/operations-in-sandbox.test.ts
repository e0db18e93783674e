import { describe, expect, test } from "vitest";
import type { Json } from "../../lib/definition/json.ts";
import type { Operation, Ran } from "../../lib/definition/sandbox.ts";
import { aBody, aGuest } from "../support/code-workflow.ts";

const OPENING = { workflow: "workflow", input: null, seed: "seed", instance: { id: "i" } };

/** What a body leads to, when its operations come back with these values in turn. */
async function played(body: string, ...done: readonly (readonly [n: number, value: Json])[]) {
  const session = (await aGuest(aBody(body))).open(OPENING);
  const feeds = done.map(([n, value]) => ({ now: 0, done: { n, value } }));
  const all = await session.run([{ now: 0 }, ...feeds]);
  session.close();
  return all;
}

const operationsOf = (ran: Ran | undefined): readonly Operation[] =>
  ran?.kind === "ran" ? ran.operations : [];
const endOf = (ran: Ran | undefined) => (ran?.kind === "ran" ? ran.end : undefined);

describe("a member that lost", () => {
  test.each(["race", "any"])("a %s is closed, and rejects", async (composite) => {
    const all = await played(
      `const late = task("late");
       const first = await ${composite}([task("early"), late]);
       return [first, await late.catch((error) => error.name)];`,
      [2, "won"],
    );

    expect(operationsOf(all[1])).toEqual([{ op: "close", n: 1 }]);
    expect(endOf(all[1])).toEqual({ value: ["won", "CancelledFailure"] });
  });

  test("in a composite inside another is closed too", async () => {
    const all = await played(
      `return race([all([task("a"), task("b")]), any([task("c"), race([task("d"), task("e")])]), task("f")]);`,
      [6, "won"],
    );

    const closed = operationsOf(all[1]).map((operation) => operation.op === "close" && operation.n);
    expect(closed).toEqual([1, 2, 3, 4, 5]);
    expect(endOf(all[1])).toEqual({ value: "won" });
  });

  test("as part of what an async function does is closed with its scope", async () => {
    const all = await played(
      `const twice = async () => { await task("a"); return task("b"); };
       return race(scope(() => [twice(), task("c")]));`,
      [1, null],
      [2, "won"],
    );

    expect(operationsOf(all[2])).toEqual([{ op: "close", n: 3 }]);
  });
});

describe("the input of a task", () => {
  test.each([
    ["undefined in a list", "{ a: [1, undefined] }", "a.1 is undefined"],
    ["a hole", "{ a: [1, , 2] }", "a has holes"],
    ["NaN", "[{ b: NaN }]", "0.b is NaN"],
    ["a function", "{ f() {} }", "f is a function"],
    ["a BigInt", "{ n: 1n }", "n is a bigint"],
    ["a map", "{ m: new Map() }", "m is a Map"],
    ["a promise", "{ p: Promise.resolve(1) }", "p is a promise; await it first"],
    ["itself", "(() => { const a = {}; a.a = a; return a; })()", "a contains itself"],
  ])("may not have %s", async (_, input, problem) => {
    const [ran] = await played(
      `try { task("t", ${input}); } catch (error) { return error.name + ": " + error.message; }`,
    );

    expect(endOf(ran)).toEqual({
      value: `TypeError: The input of t: ${problem}, which JSON cannot hold.`,
    });
  });

  test.each([
    ["{ a: undefined, b: 1 }", { b: 1 }],
    ["new Date(0)", "1970-01-01T00:00:00.000Z"],
    ["[null, true, 'x', { y: [[]] }]", [null, true, "x", { y: [[]] }]],
    ["Object.create(null, { a: { value: 1, enumerable: true } })", { a: 1 }],
    ["new (class { a = 1; })()", { a: 1 }],
    ["undefined", null],
  ])("may be %s", async (input, expected) => {
    const [ran] = await played(`await task("t", ${input});`);

    expect(operationsOf(ran)).toMatchObject([{ op: "task", input: expected }]);
  });

  test("comes with the place where the task was called", async () => {
    const [ran] = await played(`task("t");\n await task("t");`);

    const [first, second] = operationsOf(ran).map((it) => (it.op === "task" ? it.at : undefined));
    expect(second?.[0]).toBe((first?.[0] ?? 0) + 1);
  });
});
