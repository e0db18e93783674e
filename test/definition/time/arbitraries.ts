import fc from "fast-check";
import type { Duration } from "../../../lib/definition/time/duration.ts";
import { instantFrom, LAST_INSTANT } from "../../../lib/definition/time/instant.ts";

const FIRST = instantFrom(Number.NEGATIVE_INFINITY);

export const anInstant = fc.integer({ min: FIRST, max: LAST_INSTANT }).map(instantFrom);

/** The years in which zones have rules worth testing. */
export const aRecentInstant = fc
  .integer({ min: Date.UTC(1975, 0), max: Date.UTC(2045, 0) })
  .map(instantFrom);

/** Parts that stay under the longest duration even when they come together. */
export const aDuration: fc.Arbitrary<Duration> = fc.record({
  months: fc.integer({ min: -300, max: 300 }),
  days: fc.integer({ min: -9_000, max: 9_000 }),
  timeMs: fc.integer({ min: -500_000_000_000, max: 500_000_000_000 }),
});

export const aForwardDuration: fc.Arbitrary<Duration> = aDuration.map(
  ({ months, days, timeMs }) => ({
    months: Math.abs(months),
    days: Math.abs(days),
    timeMs: Math.abs(timeMs),
  }),
);

/** Zones that shift by an hour, by half an hour, by a whole day once, and not at all. */
export const aZoneName = fc.constantFrom(
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "Asia/Kathmandu",
);
