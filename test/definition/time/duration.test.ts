import fc from "fast-check";
import { Temporal } from "temporal-polyfill";
import { describe, expect, test } from "vitest";
import { MAX_DURATION_YEARS } from "../../../lib/definition/limits.ts";
import {
  addDuration,
  type Duration,
  formatDuration,
  parseDuration,
} from "../../../lib/definition/time/duration.ts";
import { formatInstant, instantFrom, LAST_INSTANT } from "../../../lib/definition/time/instant.ts";
import {
  aDuration,
  aForwardDuration,
  anInstant,
  aRecentInstant,
  aZoneName,
} from "./arbitraries.ts";
import { at, valueIn, zone } from "./values.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

function lasting(parts: Partial<Duration>): Duration {
  return { months: 0, days: 0, timeMs: 0, ...parts };
}

describe("a duration (T1), F11", () => {
  test.each([
    ["PT15S", lasting({ timeMs: 15 * SECOND })],
    ["PT05S", lasting({ timeMs: 5 * SECOND })],
    ["PT1H30M", lasting({ timeMs: 90 * MINUTE })],
    ["P14D", lasting({ days: 14 })],
    ["P14DT1H30M", lasting({ days: 14, timeMs: 90 * MINUTE })],
    ["PT36H", lasting({ timeMs: 36 * HOUR })],
    ["P3Y6M4DT12H30M5S", { months: 42, days: 4, timeMs: 12 * HOUR + 30 * MINUTE + 5 * SECOND }],
    ["P1W", lasting({ days: 7 })],
    ["P2W3D", lasting({ days: 17 })],
    ["P1Y2W", lasting({ months: 12, days: 14 })],
    ["P1M2W", lasting({ months: 1, days: 14 })],
    ["P1M", lasting({ months: 1 })],
    ["PT1M", lasting({ timeMs: MINUTE })],
    ["PT0S", lasting({})],
    ["P0D", lasting({})],
    ["-PT0S", lasting({})],
    ["-PT10S", lasting({ timeMs: -10 * SECOND })],
    ["PT-10S", lasting({ timeMs: -10 * SECOND })],
    ["-P1D", lasting({ days: -1 })],
    ["P-1D", lasting({ days: -1 })],
    ["+PT10S", lasting({ timeMs: 10 * SECOND })],
    ["PT+10S", lasting({ timeMs: 10 * SECOND })],
    ["P1DT-1H", lasting({ days: 1, timeMs: -HOUR })],
    ["-P1DT1H", lasting({ days: -1, timeMs: -HOUR })],
    ["-P-1D", lasting({ days: 1 })],
    ["PT0.5S", lasting({ timeMs: 500 })],
    ["PT1.123456789S", lasting({ timeMs: 1_124 })],
    ["PT1.123000000S", lasting({ timeMs: 1_123 })],
    ["PT-0.5S", lasting({ timeMs: -500 })],
    ["-PT0.5S", lasting({ timeMs: -500 })],
    ["PT-1.0005S", lasting({ timeMs: -1_000 })],
    ["PT0,5S", lasting({ timeMs: 500 })],
    ["p1d", lasting({ days: 1 })],
    ["P1dT5h", lasting({ days: 1, timeMs: 5 * HOUR })],
    ["PT5h", lasting({ timeMs: 5 * HOUR })],
  ])("reads %s", (text, duration) => {
    expect(parseDuration(text)).toEqual({ ok: true, value: duration });
  });

  test.each([
    ["PT1.1234567891S", "one to nine digits"],
    ["PT1.5M", "write PT1M30S"],
    ["PT1.5H", "write PT1H30M"],
    ["PT1,5H", "write PT1H30M"],
    ["PT2.0H", "write PT2H"],
    ["P0.5D", "write PT12H"],
    ["P1.5D", "write P1DT12H"],
    ["P1.5Y", "write P1Y6M"],
    ["-P1.5Y", "write -P1Y6M"],
    ["P0.3Y", "use a smaller unit"],
    ["P1.5M", "use a smaller unit"],
    ["P0.5DT1H", "use a smaller unit"],
    ["P1.0W", "write P1W"],
    ["PT0.0H", "use a smaller unit"],
    ["PT.5S", "both sides of the decimal point"],
    ["PT5.S", "both sides of the decimal point"],
    ["pt5s", "PT5s"],
    ["Pt5S", "PT5S"],
    ["P", "for example"],
    ["PT", "Nothing follows the T"],
    ["-P", "for example"],
    ["-PT", "Nothing follows the T"],
    ["P1DT", "Nothing follows the T"],
    ["P1YT", "Nothing follows the T"],
    ["T5S", "for example"],
    ["5S", "for example"],
    ["", "empty"],
    ["  ", "empty"],
    ["P1S", "PT1S"],
    ["P1H30S", "PT1H30S"],
    ["PT1D", "before the T"],
    ["P1D1Y", "in the order"],
    ["PT1S1M", "in the order"],
    ["PT1H1H", "in the order"],
    ["P1Y1Y", "in the order"],
    ["P1W1M", "in the order"],
    [" PT5S", "blanks"],
    ["PT5S ", "blanks"],
    ["PT5S\n", "blanks"],
    ["PT 5S", "blanks"],
    ["P0001-02-03T04:05:06", "form of a date"],
    ["P00010203T040506", "form of a date"],
    ["2024-01-01T00:00:00Z/P1D", "only the duration"],
    ["PT1H/PT2H", "only the duration"],
    ["R3/PT1S", "only the duration"],
    ["P2147483647D", "longest is 100 years"],
    ["P2147483648D", "longest is 100 years"],
    ["PT9223372036854775807S", "longest is 100 years"],
    ["PT9223372036854775808S", "longest is 100 years"],
    ["PT9007199254740993M-9007199254740992S", "longest is 100 years"],
  ])("refuses %j with a hint that says %j", (text, hint) => {
    expect(parseDuration(text)).toEqual({
      ok: false,
      problem: expect.stringMatching(/\.$/),
      hint: expect.stringContaining(hint),
    });
  });

  test.each([
    ["P100Y", "P100Y1M"],
    ["P1200M", "P1201M"],
    ["P5217W", "P5218W"],
    ["P36525D", "P36526D"],
    ["PT876600H", "PT876600H0.001S"],
    ["PT3155760000S", "PT3155760000.000000001S"],
    ["P50YT438300H", "P50YT438300H1S"],
    ["-P100Y", "-P100Y1D"],
  ])("may be as long as %s, and not as long as %s", (longest, tooLong) => {
    expect(MAX_DURATION_YEARS).toBe(100);
    expect(parseDuration(longest).ok).toBe(true);
    expect(parseDuration(tooLong)).toMatchObject({
      ok: false,
      problem: expect.stringContaining("too long"),
    });
  });

  test("cannot exceed the limit with parts too large for exact numbers", () => {
    const endless = "9".repeat(400);

    expect(parseDuration(`PT${endless}H-${endless}M`)).toMatchObject({
      ok: false,
      problem: expect.stringContaining("too long"),
    });
  });

  test("never makes an error message grow with its length", () => {
    const refusal = parseDuration("x".repeat(100_000));

    expect(refusal.ok).toBe(false);
    expect(JSON.stringify(refusal).length).toBeLessThan(500);
  });

  test("round-trips", () => {
    fc.assert(
      fc.property(aDuration, (duration) => {
        expect(parseDuration(formatDuration(duration))).toEqual({ ok: true, value: duration });
      }),
    );
  });

  test.each([
    ["PT90M", "PT1H30M"],
    ["P18M", "P1Y6M"],
    ["P2W", "P14D"],
    ["PT36H", "PT36H"],
    ["P0D", "PT0S"],
    ["PT0.050S", "PT0.05S"],
    ["-P1DT1H", "-P1DT1H"],
    ["P1DT-1H", "P1DT-1H"],
    ["P-1M1D", "P-1M1D"],
  ])("read from %s is written %s", (text, canonical) => {
    expect(formatDuration(valueIn(parseDuration(text)))).toBe(canonical);
  });
});

describe("adding a duration (F11)", () => {
  test.each([
    ["2024-01-01", "P3Y6M4DT12H30M5S", "UTC", "2027-07-05T12:30:05"],
    ["2024-01-31T10:00", "P1M", "UTC", "2024-02-29T10:00"],
    ["2023-01-31T10:00", "P1M", "UTC", "2023-02-28T10:00"],
    ["2024-02-29", "P1Y", "UTC", "2025-02-28"],
    ["2025-02-28", "P1Y", "UTC", "2026-02-28"],
    ["2024-02-29", "P4Y", "UTC", "2028-02-29"],
    ["2024-01-30", "P1M1D", "UTC", "2024-03-01"],
    ["2024-03-31", "-P1M", "UTC", "2024-02-29"],
    ["2024-03-30T11:00", "P1D", "Europe/Berlin", "2024-03-31T10:00"],
    ["2024-03-30T11:00", "PT24H", "Europe/Berlin", "2024-03-31T11:00"],
    ["2024-03-30T12:00", "P1DT12H", "Europe/Berlin", "2024-03-31T23:00"],
    ["2024-03-30T12:00", "PT36H", "Europe/Berlin", "2024-04-01T00:00"],
    ["2024-03-30T01:30", "P1D", "Europe/Berlin", "2024-03-31T01:30"],
    ["2024-03-31T01:30", "P1D", "Europe/Berlin", "2024-04-01T01:30"],
    ["2024-10-26T00:30", "P1D", "Europe/Berlin", "2024-10-27T00:30"],
    ["2024-10-27T00:30", "P1D", "Europe/Berlin", "2024-10-28T01:30"],
    ["2024-02-29T01:30", "P1M2D", "Europe/Berlin", "2024-03-31T01:30"],
    ["2024-02-29T01:30", "P1M3D", "Europe/Berlin", "2024-04-01T00:30"],
    ["2024-03-09T12:00", "P1D", "America/New_York", "2024-03-10T11:00"],
    ["2024-11-02T05:30", "P1D", "America/New_York", "2024-11-03T05:30"],
    ["2011-12-29T10:00", "P1D", "Pacific/Apia", "2011-12-30T10:00"],
    ["2024-01-01", "P1DT-1H", "UTC", "2024-01-01T23:00"],
    ["2024-01-01", "PT0S", "Europe/Berlin", "2024-01-01"],
  ])("to %s, %s in %s, gives %s", (base, text, zoneName, result) => {
    const sum = addDuration(at(base), valueIn(parseDuration(text)), zone(zoneName));

    expect(formatInstant(sum)).toBe(formatInstant(at(result)));
  });

  test("uses UTC if no zone is given", () => {
    expect(addDuration(at("2024-03-30T11:00"), lasting({ days: 1 }))).toBe(at("2024-03-31T11:00"));
  });

  test.each(["-PT10S", "-P1D", "PT0S"])("of %s gives an instant that is due at once", (text) => {
    const now = at("2024-01-01");

    expect(addDuration(now, valueIn(parseDuration(text)))).toBeLessThanOrEqual(now);
  });

  test("stays at the last instant instead of passing it", () => {
    const nearTheEnd = instantFrom(LAST_INSTANT - 1);

    expect(addDuration(nearTheEnd, lasting({ timeMs: 1 }))).toBe(LAST_INSTANT);
    expect(addDuration(nearTheEnd, lasting({ timeMs: 2 }))).toBe(LAST_INSTANT);
    expect(addDuration(nearTheEnd, lasting({ months: 1_200 }))).toBe(LAST_INSTANT);
    expect(addDuration(nearTheEnd, lasting({ days: 1 }), zone("Europe/Berlin"))).toBe(LAST_INSTANT);
  });

  test("with our own calendar gives the result of Temporal in UTC", () => {
    fc.assert(
      fc.property(anInstant, aDuration, (base, duration) => {
        const { months, days, timeMs } = duration;
        const expected = Temporal.Instant.fromEpochMilliseconds(base)
          .toZonedDateTimeISO("UTC")
          .add({ months })
          .add({ days })
          .add({ milliseconds: timeMs });

        expect(addDuration(base, duration)).toBe(instantFrom(expected.epochMilliseconds));
      }),
    );
  });

  test("of positive length never goes back, in any zone", () => {
    fc.assert(
      fc.property(aRecentInstant, aForwardDuration, aZoneName, (base, duration, zoneName) => {
        expect(addDuration(base, duration, zone(zoneName))).toBeGreaterThanOrEqual(base);
      }),
    );
  });

  test("without months keeps the order of the instants that it is added to, in UTC", () => {
    fc.assert(
      fc.property(aRecentInstant, aRecentInstant, aDuration, (one, other, duration) => {
        const withoutMonths = { ...duration, months: 0 };

        const difference = addDuration(one, withoutMonths) - addDuration(other, withoutMonths);

        expect(difference).toBe(one - other);
      }),
    );
  });

  test("of a longer exact time gives a later instant", () => {
    fc.assert(
      fc.property(
        aRecentInstant,
        aForwardDuration,
        fc.integer({ min: 1, max: 1_000_000 }),
        aZoneName,
        (base, duration, more, zoneName) => {
          const longer = { ...duration, timeMs: duration.timeMs + more };

          const difference =
            addDuration(base, longer, zone(zoneName)) - addDuration(base, duration, zone(zoneName));

          expect(difference).toBe(more);
        },
      ),
    );
  });

  test("is never early: the text's nanoseconds have passed", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999 }), (nanoseconds) => {
        const text = `PT1.${String(nanoseconds).padStart(9, "0")}S`;

        const lateNs =
          addDuration(instantFrom(0), valueIn(parseDuration(text))) * 1_000_000 -
          (1_000_000_000 + nanoseconds);

        expect(lateNs).toBeGreaterThanOrEqual(0);
        expect(lateNs).toBeLessThan(1_000_000);
      }),
    );
  });
});
