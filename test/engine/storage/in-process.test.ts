import { expect, test } from "vitest";
import { ROWS_AT_ONCE } from "../../../lib/definition/limits.ts";
import { someAtOnce } from "../../../lib/engine/storage/in-process.ts";

const many = Array.from({ length: 2 * ROWS_AT_ONCE + 1 }, (_, n) => n);

test("a limited number runs at once, and the results keep their order", async () => {
  let [running, most] = [0, 0];

  const results = await someAtOnce(many, async (n) => {
    running += 1;
    most = Math.max(most, running);
    await Promise.resolve();
    running -= 1;
    return n * 2;
  });

  expect(results).toEqual(many.map((n) => n * 2));
  expect(most).toBe(ROWS_AT_ONCE);
});

test("a failure is reported, and nothing starts after it", async () => {
  const begun: number[] = [];

  const done = someAtOnce(many, (n) => {
    begun.push(n);
    return n === 3 ? Promise.reject(new Error("no room")) : Promise.resolve(n);
  });

  await expect(done).rejects.toThrow("no room");
  expect(begun).toHaveLength(ROWS_AT_ONCE);
});
