import { describe, expect, test } from "vitest";
import {
  MAX_BUILT_STRING,
  MAX_COMPILED_EXPRESSIONS,
  MAX_EVALUATION_STEPS,
  MAX_EXPRESSION_DEPTH,
  MAX_EXPRESSION_LENGTH,
  MAX_PATTERN_LENGTH,
  MAX_WARNINGS,
} from "../../../lib/adapters/feelin/limits.ts";
import { evaluated, feel, feelValue, problemOf } from "./feel-evaluator.ts";

describe("an expression", () => {
  test("may be as long as the limit, and not longer", () => {
    const filled = (length: number) => `"${"a".repeat(length - 2)}"`;

    expect(feel.check(filled(MAX_EXPRESSION_LENGTH))).toBeUndefined();
    expect(feel.check(filled(MAX_EXPRESSION_LENGTH + 1))).toContain("characters");
  });

  test("may nest only so deep", () => {
    const nested = (depth: number) => `${"(".repeat(depth)}1${")".repeat(depth)}`;

    expect(feelValue(nested(MAX_EXPRESSION_DEPTH - 2))).toBe(1);
    expect(feel.check(nested(MAX_EXPRESSION_DEPTH))).toContain("nests deeper");
  });

  test("that is dropped from the compiled ones is compiled again", () => {
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
  ])("ends at its budget: %s", (_, text) => {
    expect(problemOf(text)).toContain(`more than ${MAX_EVALUATION_STEPS} steps`);
  });

  test("that calls itself for ever fails", () => {
    expect(problemOf("{f: function(n) f(n + 1), r: f(0)}.r")).toContain("too deep");
  });

  test("has room for an ordinary large list", () => {
    const xs = Array.from({ length: 50_000 }, (_, n) => n);

    expect(feelValue("count(xs[item > 9 and item < 20])", { xs })).toBe(10);
  });

  test("builds no string longer than the limit", () => {
    const half = "x".repeat(MAX_BUILT_STRING / 2);

    expect(feelValue("string length(a + a)", { a: half })).toBe(MAX_BUILT_STRING);
    expect(problemOf('a + a + "x"', { a: half })).toContain("builds a string");
    expect(problemOf('replace(a, "x", "yyy")', { a: half })).toContain("builds a string");
  });

  test("keeps a handful of warnings", () => {
    const many = Array.from({ length: MAX_WARNINGS + 5 }, (_, n) => `missing${n}`).join(", ");
    const evaluation = evaluated(`[${many}]`);

    expect(evaluation).toMatchObject({ ok: true, warnings: { length: MAX_WARNINGS } });
  });
});

describe("a regular expression", () => {
  test("that backtracks for ever is ended", () => {
    const problem = problemOf('matches(text, "^(a+)+$")', { text: `${"a".repeat(60)}!` });

    expect(problem).toContain("takes too long to match");
  });

  test("with several repetitions works under the watch", () => {
    expect(feelValue('matches("a.b.c", "^([a-z]+[.])+[a-z]+$")')).toBe(true);
    expect(feelValue('extract("a1 b22", "[a-z]+[0-9]+")')).toEqual(["a1", "b22"]);
    expect(feelValue('matches("x", "([a-z]+)*(")')).toBe(null);
  });

  test("has a limited length", () => {
    expect(feelValue("matches(p, p)", { p: "a".repeat(MAX_PATTERN_LENGTH) })).toBe(true);
    expect(problemOf("matches(p, p)", { p: "a".repeat(MAX_PATTERN_LENGTH + 1) })).toContain(
      "a pattern is longer",
    );
  });
});
