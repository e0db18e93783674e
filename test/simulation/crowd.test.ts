import { describe, expect, test } from "vitest";
import { tellCrowd } from "./actors/crowd.ts";

/** Other numbers by `npm run simulate -- --waiters 20000`. */
const WAITERS = 2_500;
const MANY = 100_000;

describe("many waits for one signal", () => {
  test("F33 are reached, each once, and the receipt counts them", async () => {
    const { receipt, taken, ended, rowsLeft } = await tellCrowd({ waiters: WAITERS });

    expect(receipt).toMatchObject({ complete: true, matched: WAITERS, delivered: WAITERS });
    expect([ended, rowsLeft]).toEqual([WAITERS, 0]);
    expect([...taken.values()].every((times) => times === 1)).toBe(true);
  });

  test.each([2, 3, 5, 7])(
    "F33 are reached, each once, although one of %i deliveries crashes midway",
    async (crashEvery) => {
      const { receipt, taken, ended, crashes } = await tellCrowd({ waiters: WAITERS, crashEvery });

      expect(receipt).toMatchObject({ complete: true, matched: WAITERS, delivered: WAITERS });
      expect(ended).toBe(WAITERS);
      expect([...taken.values()].every((times) => times === 1)).toBe(true);
      expect(crashes).toBeGreaterThan(2);
    },
  );

  test("F33 100,000 of them are reached, each once, although deliveries crash", async () => {
    const { receipt, taken, ended, crashes } = await tellCrowd({ waiters: MANY, crashEvery: 20 });

    expect(receipt).toMatchObject({ complete: true, matched: MANY, delivered: MANY });
    expect(ended).toBe(MANY);
    expect([...taken.values()].every((times) => times === 1)).toBe(true);
    expect(crashes).toBeGreaterThan(40);
  });
});
