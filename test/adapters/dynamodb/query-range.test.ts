import { describe, expect, test } from "vitest";
import { restOf } from "../../../lib/adapters/dynamodb/query-range.ts";

describe("what is left of a range", () => {
  const range = { from: "b", to: "m", limit: 10 };

  test("is the range itself, where its bounds say anything", () => {
    expect(restOf({ limit: 1 }, undefined)).toEqual({ usesCursor: false });
    expect(restOf({ limit: 1, from: "" }, undefined)).toEqual({ usesCursor: false });
    expect(restOf(range, undefined)).toEqual({ from: "b", to: "m", usesCursor: false });
  });

  test("is nowhere when it ends where it begins, or before", () => {
    expect(restOf({ ...range, to: "b" }, undefined)).toBe("nowhere");
    expect(restOf({ ...range, to: "a" }, undefined)).toBe("nowhere");
    expect(restOf({ limit: 1, to: "" }, undefined)).toBe("nowhere");
  });

  test("goes on at a cursor inside, and forgets one that has all of it ahead", () => {
    const forwards = { from: "b", to: "m" };

    expect(restOf(range, "c")).toEqual({ ...forwards, usesCursor: true });
    expect(restOf(range, "a")).toEqual({ ...forwards, usesCursor: false });
    expect(restOf({ ...range, backwards: true }, "x")).toEqual({ ...forwards, usesCursor: false });
  });

  test("is nowhere behind a cursor that has all of it in its back", () => {
    expect(restOf(range, "m")).toBe("nowhere");
    expect(restOf({ ...range, backwards: true }, "a")).toBe("nowhere");
  });
});
