import { describe, expect, test } from "vitest";
import { delaySeconds } from "../../../lib/adapters/sqs/send.ts";

describe("the delay of a message", () => {
  test.each([
    [-3_600_000, 0],
    [0, 0],
    [1, 1],
    [999, 1],
    [1_000, 1],
    [1_001, 2],
    [899_001, 900],
    [900_000, 900],
    [900_001, 900],
    [Number.MAX_SAFE_INTEGER, 900],
  ])("of %i ms is %i s", (afterMs, seconds) => {
    expect(delaySeconds(afterMs)).toBe(seconds);
  });
});
