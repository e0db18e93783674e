import fc from "fast-check";
import { evaluate as feelinEvaluate } from "feelin";
import { describe, expect, test } from "vitest";
import { feelLanguage } from "../../../lib/adapters/feelin/feel-expressions.ts";
import { type Evaluation, lookupIn } from "../../../lib/definition/expression.ts";
import { isJson } from "../../../lib/definition/json.ts";
import { evaluated, feel, feelValue, given } from "./feel-evaluator.ts";

describe("an evaluation", () => {
  test.each(["now()", "today()", "uuid()", "random number()", "[uuid(), uuid()]"])(
    "of %s gives the same result for the same time and seed, in any engine",
    (text) => {
      const again = feelLanguage().evaluate(text, lookupIn({}), given);

      expect(again).toEqual(evaluated(text));
    },
  );

  test("takes its clock from the caller, in UTC", () => {
    expect(feelValue("now()")).toBe("2026-01-02T03:04:05Z");
    expect(feelValue("today()")).toBe("2026-01-02");
  });

  test("draws other random values from another seed, and for the second draw", () => {
    const [first, second] = [uuids("a"), uuids("b")];

    expect(new Set([...first, ...second]).size).toBe(4);
    for (const uuid of first) expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]/);
  });

  test("draws random numbers from 0 up to 1", () => {
    fc.assert(
      fc.property(fc.string(), (seed) => {
        const drawn = Number(
          outcome(feel.evaluate("random number()", lookupIn({}), { ...given, seed })),
        );
        return drawn >= 0 && drawn < 1;
      }),
    );
  });

  test("never throws, never changes its variables and gives JSON, whatever the text", () => {
    const variables = Object.freeze({ a: 1, b: "two", c: Object.freeze([1, null]), d: null });
    const words = fc.constantFrom(
      ...'a b c d 1 -2 "x" null true ( ) [ ] { } , : . .. + - * / ** = != < >= and or not( in between if then else for return some satisfies item partial ? @ date( duration( string( count( sort( function( is defined( get or else('.split(
        " ",
      ),
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 12 }), (parts) => {
        const evaluation = evaluated(parts.join(" "), variables);
        expect(evaluation.ok ? isJson(evaluation.value) : evaluation.problem !== "").toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test("agrees with feelin where feelin agrees with Camunda", () => {
    fc.assert(
      fc.property(wellTyped(), fc.integer(), fc.boolean(), fc.string(), (text, n, t, s) => {
        const variables = { n, t, s, xs: [n, 1, 2], c: { n, s } };
        const { value } = feelinEvaluate(text, variables, "camunda");
        // JSON knows no minus zero.
        const expected: unknown = JSON.parse(JSON.stringify(value));
        expect(feelValue(text, variables), text).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });
});

/** Expressions without the forms that are known to differ: mixed types, `if` on no boolean. */
function wellTyped(): fc.Arbitrary<string> {
  return fc.letrec<{ number: string; text: string; truth: string; any: string }>((tie) => {
    const [number, text, truth] = [tie("number"), tie("text"), tie("truth")];
    const form = (parts: readonly string[], ...holes: readonly fc.Arbitrary<string>[]) =>
      fc.tuple(...holes).map((filled) => parts.map((part, i) => part + (filled[i] ?? "")).join(""));
    const sign = fc.constantFrom("<", "<=", ">", ">=", "=", "!=");
    return {
      number: fc.oneof(
        { maxDepth: 3, depthIdentifier: "expression" },
        fc.constantFrom("n", "c.n", "1", "2.5", "xs[1]", "xs[-1]", "count(xs)", "sum(xs)"),
        form(["(", " + ", ")"], number, number),
        form(["(", " * ", ")"], number, number),
        form(["(if ", " then ", " else ", ")"], truth, number, number),
        form(["string length(", ")"], text),
        form(["count(xs[item > ", "])"], number),
        form(["count(for i in xs return i + ", ")"], number),
      ),
      text: fc.oneof(
        { maxDepth: 3, depthIdentifier: "expression" },
        fc.constantFrom("s", "c.s", '"a"', '"B c"'),
        form(["(", " + ", ")"], text, text),
        form(["upper case(", ")"], text),
        form(["(if ", " then ", " else ", ")"], truth, text, text),
      ),
      truth: fc.oneof(
        { maxDepth: 3, depthIdentifier: "expression" },
        fc.constantFrom("t", "true", "false", "null = t"),
        form(["(", " ", " ", ")"], number, sign, number),
        form(["(", " ", " ", ")"], text, sign, text),
        form(["(", " and ", ")"], truth, truth),
        form(["(", " or ", ")"], truth, truth),
        form(["not(", ")"], truth),
        form(["(some i in xs satisfies i > ", ")"], number),
        form(["(", " between ", " and 100)"], number, fc.constantFrom("1", "-5")),
        form(["(", " in [1..5))"], number),
      ),
      any: fc.oneof(number, text, truth),
    };
  }).any;
}

function uuids(seed: string): string[] {
  const drawn = outcome(feel.evaluate("[uuid(), uuid()]", lookupIn({}), { ...given, seed }));
  return Array.isArray(drawn) ? drawn.map(String) : [];
}

function outcome(evaluation: Evaluation) {
  return evaluation.ok ? evaluation.value : evaluation.problem;
}
