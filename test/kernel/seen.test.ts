import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_REMEMBERED_ABOVE } from "../../lib/definition/limits.ts";
import type { Seen } from "../../lib/kernel/instance.ts";
import { hasSeen, NOTHING_SEEN, withSeen } from "../../lib/kernel/seen.ts";

const numbers = (...all: readonly number[]): Seen => all.reduce(withSeen, NOTHING_SEEN);

describe("a set of numbers that grows from below", () => {
  test("is empty at first", () => {
    expect(hasSeen(NOTHING_SEEN, 1)).toBe(false);
    expect(withSeen(undefined, 1)).toEqual({ low: 1, above: [] });
  });

  test.each([
    [[1, 2, 3], { low: 3, above: [] }],
    [[3, 1], { low: 1, above: [[3, 3]] }],
    [[3, 1, 2], { low: 3, above: [] }],
    [
      [5, 2, 9],
      {
        low: 0,
        above: [
          [2, 2],
          [5, 5],
          [9, 9],
        ],
      },
    ],
    [
      [5, 2, 9, 1],
      {
        low: 2,
        above: [
          [5, 5],
          [9, 9],
        ],
      },
    ],
    [
      [5, 7, 6, 9],
      {
        low: 0,
        above: [
          [5, 7],
          [9, 9],
        ],
      },
    ],
  ])("stores %j compactly", (all, expected) => {
    expect(numbers(...all)).toEqual(expected);
  });

  test("is the same set when a number comes again", () => {
    const seen = numbers(1, 4);

    expect(withSeen(seen, 4)).toBe(seen);
    expect(withSeen(seen, 1)).toBe(seen);
  });

  test("remembers as many above as the limit allows, and drops the smallest for one more", () => {
    const even = Array.from({ length: MAX_REMEMBERED_ABOVE }, (_, at) => 2 * (at + 1));

    const full = numbers(...even);
    const over = withSeen(full, 2 * MAX_REMEMBERED_ABOVE + 2);

    expect(full).toEqual({ low: 0, above: even.map((n) => [n, n]) });
    expect(over.low).toBe(2);
    expect(over.above).toHaveLength(MAX_REMEMBERED_ABOVE);
    expect(hasSeen(over, 1)).toBe(true);
    expect(hasSeen(over, 3)).toBe(false);
  });

  test("merges what follows the smallest that is dropped", () => {
    const odd = Array.from({ length: MAX_REMEMBERED_ABOVE - 1 }, (_, at) => 2 * at + 101);
    const full = numbers(10, 11, ...odd);
    const over = withSeen(full, 1_000);

    expect(full.above).toHaveLength(MAX_REMEMBERED_ABOVE);
    expect(over).toMatchObject({ low: 11 });
    expect(withSeen(over, 12)).toMatchObject({ low: 12 });
  });

  test("never forgets a number and never outgrows its limit, in whatever order they come", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 200 }), (all) => {
        const seen = numbers(...all);

        expect(all.filter((n) => !hasSeen(seen, n))).toEqual([]);
        expect(seen.above.length).toBeLessThanOrEqual(MAX_REMEMBERED_ABOVE);
        expect(seen.above.map(([first]) => first)).not.toContain(seen.low + 1);
      }),
    );
  });

  test("contains nothing but what was added, below the limit", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: MAX_REMEMBERED_ABOVE }),
        (all) => {
          const seen = numbers(...all);
          const found = Array.from({ length: 301 }, (_, n) => n).filter(
            (n) => n > 0 && hasSeen(seen, n),
          );

          expect(found).toEqual([...new Set(all)].toSorted((a, b) => a - b));
        },
      ),
    );
  });
});
