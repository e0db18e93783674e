import { describe, expect, test } from "vitest";
import { restOf } from "../../../lib/adapters/dynamodb/query-range.ts";

describe("the rest of a range", () => {
  const range = { from: "b", to: "m", limit: 10 };

  test("is the whole range without a cursor, and empty bounds do not limit it", () => {
    expect(restOf({ limit: 1 }, undefined)).toEqual({ usesCursor: false });
    expect(restOf({ limit: 1, from: "" }, undefined)).toEqual({ usesCursor: false });
    expect(restOf(range, undefined)).toEqual({ from: "b", to: "m", usesCursor: false });
  });

  test("is empty when the range ends where it begins, or earlier", () => {
    expect(restOf({ ...range, to: "b" }, undefined)).toBe("nowhere");
    expect(restOf({ ...range, to: "a" }, undefined)).toBe("nowhere");
    expect(restOf({ limit: 1, to: "" }, undefined)).toBe("nowhere");
  });

  test("continues at a cursor inside the range, and ignores a cursor before it", () => {
    const forwards = { from: "b", to: "m" };

    expect(restOf(range, "c")).toEqual({ ...forwards, usesCursor: true });
    expect(restOf(range, "a")).toEqual({ ...forwards, usesCursor: false });
    expect(restOf({ ...range, backwards: true }, "x")).toEqual({ ...forwards, usesCursor: false });
  });

  test("is empty after a cursor at the end of the range", () => {
    expect(restOf(range, "m")).toBe("nowhere");
    expect(restOf({ ...range, backwards: true }, "a")).toBe("nowhere");
  });
});
