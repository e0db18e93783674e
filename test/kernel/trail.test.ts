import { expect, test } from "vitest";
import type { Instant } from "../../lib/definition/time/instant.ts";
import { runOf } from "../../lib/kernel/trail.ts";

test("a run begins with its instance, or where a later run of it began", () => {
  const startedAt = 5 as Instant;

  expect(runOf({ startedAt })).toBe(5);
  expect(runOf({ startedAt, runAt: 9 as Instant })).toBe(9);
});
