import { describe, expect, test } from "vitest";
import { tellCrowd } from "./actors/crowd.ts";

/** Other numbers by `npm run simulate -- --waiters 20000`. */
const WAITERS = 2_500;
const MANY = 100_000;

describe("a crowd that waits for one signal", () => {
  test("F33 is reached, each once, and the receipt counts it", async () => {
    const { receipt, taken, ended, rowsLeft } = await tellCrowd({ waiters: WAITERS });

    expect(receipt).toMatchObject({ complete: true, matched: WAITERS, delivered: WAITERS });
    expect([ended, rowsLeft]).toEqual([WAITERS, 0]);
    expect([...taken.values()].every((times) => times === 1)).toBe(true);
  });

  test.each([2, 3, 5, 7])(
    "F33 is reached, each once, though one of %i who deliver dies in the middle",
    async (crashEvery) => {
      const { receipt, taken, ended, crashes } = await tellCrowd({ waiters: WAITERS, crashEvery });

      expect(receipt).toMatchObject({ complete: true, matched: WAITERS, delivered: WAITERS });
      expect(ended).toBe(WAITERS);
      expect([...taken.values()].every((times) => times === 1)).toBe(true);
      expect(crashes).toBeGreaterThan(2);
    },
  );

  test("F33 of 100,000 is reached, each once, though those who deliver die", async () => {
    const { receipt, taken, ended, crashes } = await tellCrowd({ waiters: MANY, crashEvery: 20 });

    expect(receipt).toMatchObject({ complete: true, matched: MANY, delivered: MANY });
    expect(ended).toBe(MANY);
    expect([...taken.values()].every((times) => times === 1)).toBe(true);
    expect(crashes).toBeGreaterThan(40);
  });
});
