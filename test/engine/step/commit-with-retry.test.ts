import { describe, expect, test } from "vitest";
import { pauseMs } from "../../../lib/engine/step/commit-with-retry.ts";

const owners = Array.from({ length: 200 }, (_, n) => `invocation-${n}`);

describe("the pause of one who lost", () => {
  test("is between 5 and 25 ms", () => {
    const pauses = owners.flatMap((own) => [1, 2, 3].map((tries) => pauseMs(own, tries)));

    expect(Math.min(...pauses)).toBe(5);
    expect(Math.max(...pauses)).toBe(25);
  });

  test("differs between those who lost to the same commit", () => {
    const pauses = owners.map((own) => pauseMs(own, 1));

    const counts = new Map<number, number>();
    for (const pause of pauses) counts.set(pause, (counts.get(pause) ?? 0) + 1);
    expect(counts.size).toBe(21);
    expect(Math.max(...counts.values())).toBeLessThan(owners.length / 7);
  });

  test("differs from try to try", () => {
    expect(new Set([1, 2, 3].map((tries) => pauseMs("me", tries))).size).toBe(3);
  });
});
