import { describe, expect, test } from "vitest";
import { explore, type Model } from "./explore.ts";

/** Counts up by one or by two from zero to `end`. */
function counter(end: number, rules: Partial<Model<number>> = {}): Model<number> {
  return {
    initial: 0,
    next: (n) => [1, 2].filter((by) => n + by <= end).map((by) => [`add ${by}`, n + by] as const),
    unsafe: () => undefined,
    unfinished: () => undefined,
    ...rules,
  };
}

describe("the exhaustive search", () => {
  test("visits each state once", () => {
    expect(explore(counter(100))).toEqual({ states: 101, labels: new Set(["add 1", "add 2"]) });
  });

  test("shows a shortest path to a forbidden state", () => {
    const found = explore(counter(100, { unsafe: (n) => (n === 3 ? "three" : undefined) }));

    expect(found.counterexample).toEqual({ problem: "three", chain: ["add 1", "add 2"] });
  });

  test("checks the final state if nothing more can happen", () => {
    const found = explore(counter(2, { unfinished: (n) => `ended at ${n}` }));

    expect(found.counterexample).toEqual({ problem: "ended at 2", chain: ["add 2"] });
  });

  test("does not wait for an optional step, but still takes it", () => {
    const lucky = counter(1, {
      next: (n) => (n === 0 ? [["luck", 1, "optional"] as const] : []),
      unfinished: (n) => (n === 0 ? "waits for luck" : undefined),
    });

    expect(explore(lucky).counterexample).toEqual({ problem: "waits for luck", chain: [] });
    expect(explore({ ...lucky, unfinished: () => undefined }).states).toBe(2);
  });
});
