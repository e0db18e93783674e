import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { endWatch } from "../../lib/embedded/end-watch.ts";

describe("waiting for an end", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  test.each([
    [1_000, 1_000],
    [2 ** 31 - 1, 2 ** 31 - 1],
    // A timer of the process set to more than that would ring at once.
    [2 ** 31, 2 ** 31 - 1],
    [Number.POSITIVE_INFINITY, 2 ** 31 - 1],
  ])("for %d ms ends after %d", async (timeoutMs, afterMs) => {
    let isOver = false;
    const watch = endWatch().wait("one", timeoutMs);
    void watch.ended.then(() => {
      isOver = true;
    });

    await vi.advanceTimersByTimeAsync(afterMs - 1);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);

    expect(isOver).toBe(true);
  });
});
