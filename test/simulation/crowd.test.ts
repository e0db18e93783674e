import { describe, expect, test } from "vitest";
import { tellCrowd } from "./crowd.ts";

/** More by `npm run simulate -- --waiters 100000`. */
const WAITERS = 2_500;

describe("a crowd that waits for one signal", () => {
  test("F33 is reached, each once, and the receipt counts it", async () => {
    const { receipt, taken, ended, rowsLeft } = await tellCrowd({ waiters: WAITERS });

    expect(receipt).toMatchObject({ complete: true, matched: WAITERS, delivered: WAITERS });
    expect([ended, rowsLeft]).toEqual([WAITERS, 0]);
    expect([...taken.values()].every((times) => times === 1)).toBe(true);
  });

  test("F33 is reached, each once, though those who deliver die in the middle", async () => {
    const { receipt, taken, ended, crashes } = await tellCrowd({ waiters: WAITERS, crashEvery: 3 });

    expect(receipt).toMatchObject({ complete: true, matched: WAITERS, delivered: WAITERS });
    expect(ended).toBe(WAITERS);
    expect([...taken.values()].every((times) => times === 1)).toBe(true);
    expect(crashes).toBeGreaterThan(5);
  });
});
