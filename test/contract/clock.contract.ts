// What every clock must do. An adapter's test calls clockContract with a way to open one.

import { describe, expect, test } from "vitest";
import { isInstant } from "../../lib/definition/time/instant.ts";
import type { Clock } from "../../lib/ports/clock.ts";

/** Declares the suite for one adapter. */
export function clockContract(name: string, open: () => Promise<Clock>): void {
  describe(name, () => {
    test("returns an instant, in whole milliseconds", async () => {
      expect(isInstant((await open()).now())).toBe(true);
    });

    test("does not go back unless it is set", async () => {
      const clock = await open();
      const shown = Array.from({ length: 1_000 }, () => clock.now());

      expect(shown).toEqual(shown.toSorted((a, b) => a - b));
    });

    test("ends a pause", async () => {
      const clock = await open();

      await expect(clock.pause(1)).resolves.toBeUndefined();
    });
  });
}
