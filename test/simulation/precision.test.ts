import { describe, expect, test } from "vitest";
import { measurePrecision } from "./world/precision.ts";

/** More, and the numbers themselves, by `npm run simulate -- --timers 500`. */
const TIMERS = 60;

describe("the precision of timers", () => {
  test("J18 is a second by the queue, a schedule and the wheel, and never early", async () => {
    const precision = await measurePrecision(TIMERS);

    const [queue, schedule, wheel, sweep] = precision;
    for (const road of [queue, schedule, wheel]) {
      expect(road?.earliest).toBeGreaterThanOrEqual(0);
      expect(road?.latest).toBeLessThanOrEqual(1_100);
    }
    expect(sweep?.earliest).toBeGreaterThanOrEqual(60_000);
    expect(sweep?.latest).toBeLessThanOrEqual(121_000);
  });
});
