import { describe, expect, test } from "vitest";
import {
  type Computed,
  type Evaluation,
  type ExpressionLanguage,
  type Expressions,
  evaluateComputed,
  FEEL,
  isMappingTarget,
  isVariableName,
  lookupIn,
  parseComputed,
  problemOf,
  type ResultKinds,
  resultOf,
  variablesOf,
} from "../../lib/definition/expression.ts";
import type { Json } from "../../lib/definition/json.ts";

describe("a value in a definition", () => {
  test.each([
    ["=total > 1", { kind: "feel", text: "total > 1" }],
    ["= total", { kind: "feel", text: "total" }],
    [" =total", { kind: "static", value: " =total" }],
    ["null", { kind: "static", value: null }],
    ["true", { kind: "static", value: true }],
    ["-1.5e2", { kind: "static", value: -150 }],
    ["-0", { kind: "static", value: 0 }],
    ["007", { kind: "static", value: "007" }],
    ["1e999", { kind: "static", value: "1e999" }],
    ["", { kind: "static", value: "" }],
    ["PT15M", { kind: "static", value: "PT15M" }],
  ])("%j is read as %j", (text, computed) => {
    expect(parseComputed(text)).toEqual(computed);
  });

  test("stays text if its field is text", () => {
    expect(parseComputed("1", "text")).toEqual({ kind: "static", value: "1" });
    expect(parseComputed('"1"', "text")).toEqual({ kind: "static", value: '"1"' });
    expect(parseComputed("=1", "text")).toEqual({ kind: "feel", text: "1" });
  });

  test("is returned when static, and evaluated by the engine otherwise", () => {
    const given = { now: 0, seed: "s" };
    const lookup = lookupIn({ total: 7 });

    const value = (text: string) =>
      evaluateComputed(parseComputed(text), expressions, lookup, given);

    expect(value("5")).toMatchObject({ value: 5 });
    expect(value("=total")).toMatchObject({ value: 7 });
  });
});

describe("the language of an expression", () => {
  const lookup = lookupIn({ total: 7 });
  const given = { now: 0, seed: "s" };

  test("evaluates it, checks it and finds its variables, by its name", async () => {
    const computed = inLanguage("latot", "backwards");

    const evaluation = await evaluateComputed(computed, expressions, lookup, given);

    expect(evaluation).toMatchObject({ value: 7 });
    expect(problemOf(computed, expressions)).toBeUndefined();
    expect(variablesOf(computed, expressions)).toEqual(["total"]);
  });

  test("is FEEL by default", () => {
    expect(problemOf(parseComputed("="), expressions)).toBe("It names nothing.");
    expect(variablesOf(parseComputed("=total"), expressions)).toEqual(["total"]);
  });

  test("is not set for a static value", () => {
    expect(problemOf(parseComputed("total"), expressions)).toBeUndefined();
    expect(variablesOf(parseComputed("total"), expressions)).toEqual([]);
  });

  test("that is unknown is reported at deploy and at evaluation, with the known ones", () => {
    const computed = inLanguage("total", "constructor");
    const problem =
      'The expression language "constructor" is not known here. Use one of: "feel", "backwards".';

    expect(problemOf(computed, expressions)).toBe(problem);
    expect(evaluateComputed(computed, expressions, lookup, given)).toEqual({ ok: false, problem });
    expect(variablesOf(computed, expressions)).toEqual([]);
  });
});

describe("the result of an expression", () => {
  test.each<[keyof ResultKinds, Json, unknown]>([
    ["boolean", false, false],
    ["string", "a", "a"],
    ["number", 1.5, 1.5],
    ["integer", 3, 3],
    ["list", [1, "a"], [1, "a"]],
    ["strings", ["a"], ["a"]],
    ["key", "k", "k"],
    ["key", 42, "42"],
    ["key", 10.5, "10.5"],
    ["key", 1e21, "1000000000000000000000"],
  ])("that must be of kind %s may be %j", (kind, value, narrowed) => {
    expect(resultOf(kind, "x", gave(value))).toEqual({ ok: true, value: narrowed });
  });

  test.each<[keyof ResultKinds, Json]>([
    ["boolean", null],
    ["boolean", "true"],
    ["string", 1],
    ["number", "1"],
    ["integer", 1.5],
    ["list", {}],
    ["strings", ["a", 1]],
    ["key", null],
    ["key", true],
  ])("that must be of kind %s may not be %j", (kind, value) => {
    expect(resultOf(kind, "x", gave(value)).ok).toBe(false);
  });

  test("reports what was found, what is needed, and why", () => {
    const evaluation = gave(null, ["no variable named total"]);

    expect(resultOf("boolean", "total > 1", evaluation)).toEqual({
      ok: false,
      problem:
        "The expression `total > 1` gave null where true or false is needed (no variable named total).",
    });
  });

  test("that failed stays failed", () => {
    const failed: Evaluation = { ok: false, problem: "broken" };

    expect(resultOf("boolean", "x", failed)).toEqual(failed);
  });
});

describe("a variable name", () => {
  test.each(["a", "_a1", "orderId", "not_"])("may be %j", (name) => {
    expect(isVariableName(name)).toBe(true);
  });

  test.each(["", "1a", "a-b", "a b", "a.b", "null", "for", "and", "ü", "a\n"])(
    "may not be %j",
    (name) => {
      expect(isVariableName(name)).toBe(false);
    },
  );
});

describe("a mapping target", () => {
  test("is names joined by dots", () => {
    expect(isMappingTarget("order.customer.id")).toBe(true);
    expect(isMappingTarget("order..id")).toBe(false);
    expect(isMappingTarget("order.if")).toBe(false);
    expect(isMappingTarget("")).toBe(false);
  });
});

describe("a lookup", () => {
  test("finds own entries only", () => {
    const lookup = lookupIn({ a: null });

    expect(lookup("a")).toBe(null);
    expect(lookup("b")).toBeUndefined();
    expect(lookup("toString")).toBeUndefined();
  });
});

/** Knows one form of expression: the name of a variable. */
const reader: ExpressionLanguage = {
  check: (text) => (text === "" ? "It names nothing." : undefined),
  variablesOf: (text) => [text],
  evaluate: (text, lookup) => gave(lookup(text) ?? null),
};

/** The same, for a name that is spelled backwards; and it takes some time. */
const backwards: ExpressionLanguage = {
  check: () => undefined,
  variablesOf: (text) => [reversed(text)],
  evaluate: async (text, lookup) => gave(lookup(reversed(text)) ?? null),
};

const expressions: Expressions = new Map([
  [FEEL, reader],
  ["backwards", backwards],
]);
const inLanguage = (text: string, language: string): Computed => ({ kind: "feel", text, language });
const reversed = (text: string): string => [...text].reverse().join("");

function gave(value: Json, warnings: readonly string[] = []): Evaluation {
  return { ok: true, value, warnings };
}
