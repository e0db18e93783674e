import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { gapsIn, hasBit, withBit, withoutBit } from "../../lib/kernel/bits.ts";

describe("a set of numbers encoded as text", () => {
  test("contains what was added and not removed, and nothing else", () => {
    const number = fc.nat({ max: 200 });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), number)), (changes) => {
        const model = new Set<number>();
        let bits = "";
        for (const [isIn, n] of changes) {
          bits = isIn ? withBit(bits, n) : withoutBit(bits, n);
          if (isIn) model.add(n);
          else model.delete(n);
        }

        const all = Array.from({ length: 201 }, (_, n) => n);
        expect(all.filter((n) => hasBit(bits, n))).toEqual(all.filter((n) => model.has(n)));
        expect(gapsIn(bits, 201)).toEqual(all.filter((n) => !model.has(n)));
      }),
    );
  });

  test("uses one character per six numbers", () => {
    const bits = Array.from({ length: 8_192 }, (_, n) => n).reduce(withBit, "");

    expect(bits).toHaveLength(1_366);
    expect(gapsIn(bits, 8_192)).toEqual([]);
  });
});
