import { describe, expect, test } from "vitest";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { again, pauseMs, retrying, tryRepeatedly } from "../../../lib/engine/storage/retrying.ts";

function aClock() {
  const pauses: number[] = [];
  const clock = { now: () => instantFrom(0), pause: async (ms: number) => void pauses.push(ms) };
  return { world: { clock }, pauses };
}

describe("retrying", () => {
  test("returns the result of the first attempt that succeeds, after growing pauses", async () => {
    const { world, pauses } = aClock();

    const result = await retrying(world, { tries: 5, where: "here" }, async (tried) =>
      tried < 3 ? again() : `held after ${tried}`,
    );

    expect(result).toBe("held after 3");
    expect(pauses).toEqual([2, 3, 4]);
  });

  test("pauses for as long as a busy store asks", async () => {
    const { world, pauses } = aClock();

    await retrying(world, { tries: 2, where: "here" }, async (tried) =>
      tried === 0 ? again({ kind: "busy", retryAfterMs: 250 }) : "held",
    );

    expect(pauses).toEqual([250]);
  });

  test("ends with engine/busy, and says where, once its attempts are used up", async () => {
    const { world, pauses } = aClock();
    let tries = 0;

    const result = retrying(world, { tries: 3, where: "here" }, async () => {
      tries += 1;
      return again();
    });

    await expect(result).rejects.toMatchObject({
      code: "engine/busy",
      retryable: true,
      message: expect.stringMatching(/ \(here\)\. .+ \[engine\/busy\]$/),
    });
    expect(tries).toBe(3);
    expect(pauses).toHaveLength(2);
  });

  test("rethrows errors at once", async () => {
    const { world, pauses } = aClock();

    const result = retrying(world, { tries: 3, where: "here" }, () =>
      Promise.reject(new Error("broken")),
    );

    await expect(result).rejects.toThrow("broken");
    expect(pauses).toEqual([]);
  });

  test("returns to a caller that has another way after the last attempt", async () => {
    const { world } = aClock();

    const result = await tryRepeatedly(world, { tries: 2 }, async () => again({ retryAfterMs: 7 }));

    expect(result).toEqual(again({ retryAfterMs: 7 }));
  });
});

describe("the pause between attempts", () => {
  test("differs by writer, so that conflicting writers do not conflict again", () => {
    const writers = Array.from({ length: 20 }, (_, n) => `writer-${n}`);

    const pauses = new Set(writers.map((writer) => pauseMs(3, writer)));

    expect(pauses.size).toBeGreaterThan(10);
    expect(Math.max(...pauses)).toBeLessThan(52);
  });

  const owners = Array.from({ length: 200 }, (_, n) => `invocation-${n}`);

  test("is between 2 and 21 ms at first", () => {
    const pauses = owners.map((own) => pauseMs(0, own));

    expect(Math.min(...pauses)).toBe(2);
    expect(Math.max(...pauses)).toBe(21);
  });

  test("spreads writers that lost to the same commit over the whole range", () => {
    const counts = new Map<number, number>();
    for (const own of owners) {
      counts.set(pauseMs(0, own), (counts.get(pauseMs(0, own)) ?? 0) + 1);
    }

    expect(counts.size).toBe(20);
    expect(Math.max(...counts.values())).toBeLessThan(owners.length / 7);
  });

  test("differs from attempt to attempt", () => {
    expect(new Set([0, 1, 2].map((tried) => pauseMs(tried, "me"))).size).toBe(3);
  });
});
