import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, findNonJson, isJson } from "../../lib/definition/json.ts";
import { MAX_VALUE_DEPTH } from "../../lib/definition/limits.ts";

describe("a JSON value", () => {
  test("is anything that JSON text can represent", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const value: unknown = JSON.parse(text);
        // Text may say -0, and reads back as a number no text says again.
        expect(isJson(JSON.parse(JSON.stringify(value)))).toBe(true);
      }),
    );
  });

  test.each([
    undefined,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    -0,
    1n,
    Symbol("s"),
    () => 1,
    new Date(0),
    new Map(),
    [undefined],
    new Array(1),
    { a: { b: new Set() } },
  ])("is not %s", (value) => {
    expect(isJson(value)).toBe(false);
  });
});

describe("a value that is not JSON", () => {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);

  test("is found by its path", () => {
    expect(findNonJson({ a: [1, { b: 1n }] })).toEqual({
      path: ["a", "1", "b"],
      problem: "is a bigint",
    });
  });

  test("may be one that contains itself, but not one that occurs twice", () => {
    const shared = { x: 1 };
    const circle: Record<string, unknown> = { shared };
    circle.self = [circle];

    expect(findNonJson({ a: shared, b: shared })).toBeUndefined();
    expect(findNonJson(circle)).toEqual({ path: ["self", "0"], problem: "contains itself" });
  });

  test("may be one that is nested deeper than the limit", () => {
    expect(findNonJson(nested(MAX_VALUE_DEPTH))).toBeUndefined();
    expect(findNonJson(nested(MAX_VALUE_DEPTH + 1))?.problem).toContain("nested deeper");
  });
});

describe("canonical JSON", () => {
  test("reads back as the value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test("is the same text for any order of properties, at any depth", () => {
    const one = { b: [{ y: 1, x: 2 }], a: { d: null, c: true } };
    const other = { a: { c: true, d: null }, b: [{ x: 2, y: 1 }] };

    expect(canonicalJson(one)).toBe('{"a":{"c":true,"d":null},"b":[{"x":2,"y":1}]}');
    expect(canonicalJson(other)).toBe(canonicalJson(one));
  });

  test("differs for lists in another order", () => {
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
  });
});
