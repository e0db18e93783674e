import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  formatInstant,
  instantFrom,
  isInstant,
  LAST_INSTANT,
  parseInstant,
  parseRfc3339Instant,
  parseZonedInstant,
} from "../../../lib/definition/time/instant.ts";
import { anInstant } from "./arbitraries.ts";
import { at, valueIn } from "./values.ts";

describe("a date and time (T5), F11", () => {
  test.each([
    ["2019-10-01T12:00:00Z", "2019-10-01T12:00:00.000Z"],
    ["2019-10-01T12:00Z", "2019-10-01T12:00:00.000Z"],
    ["2019-10-01t12:00:00z", "2019-10-01T12:00:00.000Z"],
    ["2019-10-01T12:00:00+02:00", "2019-10-01T10:00:00.000Z"],
    ["2019-10-01T12:00:00+02", "2019-10-01T10:00:00.000Z"],
    ["2019-10-01T12:00:00-02:30", "2019-10-01T14:30:00.000Z"],
    ["2019-10-02T08:09:40+02:00[Europe/Berlin]", "2019-10-02T06:09:40.000Z"],
    ["2022-01-01T10:00:00+02:00[Europe/Berlin]", "2022-01-01T08:00:00.000Z"],
    ["2019-10-01T12:00:00.123Z", "2019-10-01T12:00:00.123Z"],
    ["2019-10-01T12:00:00.5Z", "2019-10-01T12:00:00.500Z"],
    ["2019-10-01T12:00:00.123456789Z", "2019-10-01T12:00:00.124Z"],
    ["2019-10-01T12:00:00.123000000Z", "2019-10-01T12:00:00.123Z"],
    ["2019-12-31T23:59:59.999000001Z", "2020-01-01T00:00:00.000Z"],
    ["2019-10-01T12:00:00-00:00", "2019-10-01T12:00:00.000Z"],
    ["2019-10-01T12:00:00+14:00", "2019-09-30T22:00:00.000Z"],
    ["2019-10-01T12:00:00+18:00", "2019-09-30T18:00:00.000Z"],
    ["2019-10-01T12:00:00Z[UTC]", "2019-10-01T12:00:00.000Z"],
    ["2020-02-29T00:00:00Z", "2020-02-29T00:00:00.000Z"],
    ["1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"],
  ])("reads %s as %s", (text, instant) => {
    expect(formatInstant(valueIn(parseInstant(text)))).toBe(instant);
  });

  test.each([
    "2019-10-01T12:00:00[Europe/Berlin]",
    "2019-10-01T12:00:00",
    "2019-10-01",
    "2019-10-01 12:00:00Z",
    "20191001T120000Z",
    "2019-10-01T12:00:00+0200",
    "2019-10-01T12:00:00,123Z",
    "2019-10-01T12:00:00.1234567891Z",
    "2019-10-01T12:00:00.Z",
    "2019-10-01T12:00:00+18:01",
    "2019-10-01T12:00:00+19:00",
    "2019-10-01T12:00:00+02:60",
    "2019-10-01T24:00:00Z",
    "2019-10-01T12:60:00Z",
    "2019-10-01T12:00:60Z",
    "2019-02-29T12:00:00Z",
    "1900-02-29T12:00:00Z",
    "2019-02-30T12:00:00Z",
    "2019-04-31T12:00:00Z",
    "2019-13-01T12:00:00Z",
    "2019-00-01T12:00:00Z",
    "2019-01-00T12:00:00Z",
    "2019-W40-2T12:00:00Z",
    "2019-274T12:00:00Z",
    "1569931200",
    "1569931200000",
    "2019-10-01T12:00:00+02:00[Mars/Phobos]",
    "2019-10-01T12:00:00+02:00[]",
    "2019-10-01T12:00:00UTC",
    "2019-10-01T12:00:00Z UTC",
    "10000-01-01T00:00:00Z",
    "+12019-10-01T12:00:00Z",
    "-0001-10-01T12:00:00Z",
    " 2019-10-01T12:00:00Z",
    "2019-10-01T12:00:00Z ",
    "2019-10-01T12:00:00Z\n",
    "",
  ])("refuses %j and says what to write", (text) => {
    expect(parseInstant(text)).toEqual({
      ok: false,
      problem: expect.stringMatching(/\.$/),
      hint: expect.stringMatching(/\.$/),
    });
  });

  test.each([
    ["2019-10-01", "Add the time"],
    ["2019-10-01T12:00:00", "Add Z or an offset"],
    ["2019-10-01T12:00:00+0200", "with a colon"],
    ["2019-10-01T12:00:00,5Z", "with a point"],
    ["2019-10-01T12:00:00.1234567891Z", "one to nine digits"],
    ["2019-10-01T12:00:00+02:00[europe/berlin]", "Europe/Berlin"],
    [" 2019-10-01T12:00:00Z", "blanks"],
    ["2019-02-29T12:00:00Z", "month and day"],
  ])("that is written %j gets the hint %j", (text, hint) => {
    expect(parseInstant(text)).toMatchObject({ ok: false, hint: expect.stringContaining(hint) });
  });

  test("keeps the zone in brackets, while the offset decides the instant", () => {
    expect(parseZonedInstant("2022-01-01T10:00:00+02:00[Europe/Berlin]")).toEqual({
      ok: true,
      value: { at: at("2022-01-01T08:00"), zone: "Europe/Berlin" },
    });
  });

  test("has no zone if none is written", () => {
    expect(parseZonedInstant("2022-01-01T10:00:00+02:00")).toEqual({
      ok: true,
      value: { at: at("2022-01-01T08:00") },
    });
  });

  test("may be the first and the last instant, and not one millisecond beyond", () => {
    expect(valueIn(parseInstant("9999-12-31T23:59:59.999Z"))).toBe(LAST_INSTANT);
    expect(parseInstant("9999-12-31T23:59:59.999000001Z").ok).toBe(false);
    expect(parseInstant("9999-12-31T23:00:00-01:00").ok).toBe(false);
    expect(parseInstant("0000-01-01T00:00:00Z").ok).toBe(true);
    expect(parseInstant("0000-01-01T00:59:59.999+01:00").ok).toBe(false);
  });

  test("never makes an error message grow with its length", () => {
    const refusal = parseInstant("x".repeat(100_000));

    expect(JSON.stringify(refusal).length).toBeLessThan(500);
  });
});

describe("an RFC 3339 timestamp", () => {
  test.each([
    ["2019-10-01T12:00:00Z", "2019-10-01T12:00:00.000Z"],
    ["2019-10-01t12:00:00z", "2019-10-01T12:00:00.000Z"],
    ["2019-10-01T12:00:00.25+02:00", "2019-10-01T10:00:00.250Z"],
    ["2019-10-01T12:00:00.0000000000001Z", "2019-10-01T12:00:00.001Z"],
    ["2019-10-01T12:00:00+23:59", "2019-09-30T12:01:00.000Z"],
  ])("reads %s as %s", (text, instant) => {
    expect(formatInstant(valueIn(parseRfc3339Instant(text)))).toBe(instant);
  });

  test.each([
    "2019-10-01T12:00Z",
    "2019-10-01T12:00:00+02",
    "2019-10-01T12:00:00+24:00",
    "2019-10-01T12:00:00",
    "2019-10-01",
    "2016-12-31T23:59:60Z",
    "2019-10-01T12:00:00Z[UTC]",
    "2019-10-01T12:00:00+02:00[Europe/Berlin]",
    "2019-02-29T12:00:00Z",
    "",
  ])("refuses %j", (text) => {
    expect(parseRfc3339Instant(text).ok).toBe(false);
  });
});

describe("an instant", () => {
  test("round-trips", () => {
    fc.assert(
      fc.property(anInstant, (instant) => {
        expect(parseInstant(formatInstant(instant))).toEqual({ ok: true, value: instant });
        expect(parseRfc3339Instant(formatInstant(instant))).toEqual({ ok: true, value: instant });
      }),
    );
  });

  test("is written in the format of the platform", () => {
    fc.assert(
      fc.property(anInstant, (instant) => {
        expect(formatInstant(instant)).toBe(new Date(instant).toISOString());
      }),
    );
  });

  test("is never earlier than a text that is finer than a millisecond", () => {
    const nanoseconds = fc.integer({ min: 0, max: 999_999_999 });
    fc.assert(
      fc.property(nanoseconds, (fraction) => {
        const digits = String(fraction).padStart(9, "0");

        const instant = valueIn(parseInstant(`2024-01-01T00:00:00.${digits}Z`));

        const lateNs = (instant - at("2024-01-01")) * 1_000_000 - fraction;
        expect(lateNs).toBeGreaterThanOrEqual(0);
        expect(lateNs).toBeLessThan(1_000_000);
      }),
    );
  });

  test("made of a fraction is the next whole millisecond, and never minus zero", () => {
    expect(instantFrom(1.000_1)).toBe(2);
    expect(instantFrom(-1.5)).toBe(-1);
    expect(instantFrom(-0.5)).toBe(0);
  });

  test("made of a number beyond the last is the last", () => {
    expect(instantFrom(LAST_INSTANT + 1)).toBe(LAST_INSTANT);
    expect(instantFrom(Number.POSITIVE_INFINITY)).toBe(LAST_INSTANT);
    expect(isInstant(LAST_INSTANT)).toBe(true);
    expect(isInstant(LAST_INSTANT + 1)).toBe(false);
    expect(isInstant(0.5)).toBe(false);
  });

  test("cannot be made of NaN", () => {
    expect(() => instantFrom(Number.NaN)).toThrow("Pass a finite number");
  });
});
