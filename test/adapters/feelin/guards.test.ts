import { describe, expect, test } from "vitest";
import {
  MAX_BUILT_STRING,
  MAX_COMPILED_EXPRESSIONS,
  MAX_EVALUATION_STEPS,
  MAX_EXPRESSION_DEPTH,
  MAX_EXPRESSION_LENGTH,
  MAX_WARNINGS,
} from "../../../lib/adapters/feelin/limits.ts";
import { fullBudget, lookupIn } from "../../../lib/definition/expression.ts";
import { MAX_WORK_PER_DECISION } from "../../../lib/definition/limits.ts";
import { evaluated, feel, feelValue, given, problemOf } from "./feel-evaluator.ts";

const LARGE = {
  text: "x".repeat(900_000),
  other: `${"x".repeat(899_999)}y`,
  list: Array.from({ length: 2_000 }, (_, n) => n),
  context: Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`k${n}`, n])),
};

describe("an expression", () => {
  test("may be as long as the limit, and not longer", () => {
    const filled = (length: number) => `"${"a".repeat(length - 2)}"`;

    expect(feel.check(filled(MAX_EXPRESSION_LENGTH))).toBeUndefined();
    expect(feel.check(filled(MAX_EXPRESSION_LENGTH + 1))).toContain("characters");
  });

  test("has a limited nesting depth", () => {
    const nested = (depth: number) => `${"(".repeat(depth)}1${")".repeat(depth)}`;

    expect(feelValue(nested(MAX_EXPRESSION_DEPTH - 2))).toBe(1);
    expect(feel.check(nested(MAX_EXPRESSION_DEPTH))).toContain("nests deeper");
  });

  test("that was evicted from the compiled expressions is compiled again", () => {
    expect(feelValue("1 + 1")).toBe(2);
    for (let n = 0; n <= MAX_COMPILED_EXPRESSIONS; n += 1) feel.check(`${n}`);

    expect(feelValue("1 + 1")).toBe(2);
  });

  test.each([
    ["a huge range", "for i in 1..1000000000 return i"],
    ["a range that cannot count up", "for i in (9007199254740992..9007199254740999) return i"],
    ["a huge range in a quantifier", "every i in 1..1000000000 satisfies i > 0"],
    ["nested loops", "for a in 1..2000, b in 1..2000 return 1"],
    ["loops inside of loops", "for a in 1..2000 return count(for b in 1..2000 return 1)"],
    ["a result that doubles", "for i in 1..60 return [partial[-1], partial[-1]]"],
    ["a text that doubles", "string(for i in 1..60 return [partial[-1], partial[-1]])"],
    ["a list that doubles", "for i in 1..60 return concatenate(partial[-1], partial[-1], [1])"],
    [
      "a comparison that doubles",
      "{x: for i in 1..60 return [partial[-1], partial[-1]], y: x = x}.y",
    ],
    [
      "a function that calls itself twice",
      "{f: function(n) if n = 0 then 0 else f(n-1) + f(n-1), r: f(60)}.r",
    ],
    ["text that is joined", "string join(for i in 1..300 return text)"],
    ["text that is repeated", "for i in 1..300 return text"],
    ["text that is appended to", "for i in 1..300 return text + string(i)"],
    ["text as JSON", "to json(for i in 1..300 return text)"],
    ["text as FEEL", "string(for i in 1..300 return text)"],
    ["text that is compared", "for i in 1..300 return text = other"],
    ["text that is ordered", "for i in 1..300 return text < other"],
    ["a type that looks inside", "for i in 1..3000 return list instance of list<number>"],
    ["contexts that are compared", "distinct values(for i in list return {n: i})"],
    ["contexts that are joined", "union(for i in list return {n: i})"],
    ["contexts that are copied", 'for i in 1..3000 return context put(context, "x", i)'],
    ["contexts that are merged", "for i in 1..3000 return context merge([context, context])"],
    ["a pattern on long text", 'for i in 1..300 return matches(text, "[a-c]*d")'],
  ])("ends at its budget: %s", (_, text) => {
    expect(problemOf(text, LARGE)).toContain(`more than ${MAX_EVALUATION_STEPS} steps`);
  });

  test("ends when a shared budget is spent", () => {
    const budget = { ...fullBudget(), work: 1_000_000 };
    const count = () =>
      feel.evaluate("count(for i in 1..200000 return 1)", lookupIn({}), { ...given, budget });

    expect(count()).toMatchObject({ ok: true, value: 200_000 });
    expect(count()).toMatchObject({
      ok: false,
      problem: expect.stringContaining(`more than ${MAX_WORK_PER_DECISION} steps together`),
    });
  });

  test("that calls itself endlessly fails", () => {
    expect(problemOf("{f: function(n) f(n + 1), r: f(0)}.r")).toContain("too deep");
  });

  test("may process an ordinary large list", () => {
    const xs = Array.from({ length: 50_000 }, (_, n) => n);

    expect(feelValue("count(xs[item > 9 and item < 20])", { xs })).toBe(10);
  });

  test("builds no string longer than the limit", () => {
    const half = "x".repeat(MAX_BUILT_STRING / 2);

    expect(feelValue("string length(a + a)", { a: half })).toBe(MAX_BUILT_STRING);
    expect(problemOf('a + a + "x"', { a: half })).toContain("builds a string");
    expect(problemOf('replace(a, "x", "yyy")', { a: half })).toContain("builds a string");
  });

  test("keeps a limited number of warnings", () => {
    const many = Array.from({ length: MAX_WARNINGS + 5 }, (_, n) => `missing${n}`).join(", ");
    const evaluation = evaluated(`[${many}]`);

    expect(evaluation).toMatchObject({ ok: true, warnings: { length: MAX_WARNINGS } });
  });
});
