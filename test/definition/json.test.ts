import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isJson } from "../../lib/definition/json.ts";

describe("a JSON value", () => {
  test("is whatever JSON text can say", () => {
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
    { a: { b: new Set() } },
  ])("is not %s", (value) => {
    expect(isJson(value)).toBe(false);
  });
});
