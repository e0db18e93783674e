import fc from "fast-check";
import { Temporal } from "temporal-polyfill";
import { describe, expect, test } from "vitest";
import { feelValue } from "./feel-evaluator.ts";

describe("years and months duration", () => {
  test.each([
    ["2020-01-15", "2024-03-14", "P4Y1M"],
    ["2020-01-15", "2024-03-15", "P4Y2M"],
    ["2024-03-14", "2020-01-15", "-P4Y1M"],
    ["2024-03-15", "2020-01-15", "-P4Y2M"],
    ["2024-01-31", "2024-02-29", "P0M"],
    ["2024-02-29", "2024-01-31", "P0M"],
    ["2024-03-31", "2024-02-29", "-P1M"],
    ["2024-02-29", "2025-02-28", "P11M"],
    ["2024-01-01", "2024-01-02", "P0M"],
  ])("from %s to %s is %s", (from, to, expected) => {
    expect(between(from, to)).toBe(expected);
  });

  test("also takes dates with a time, by position and by name", () => {
    const from = 'date and time("2020-01-15T23:00:00Z")';

    expect(feelValue(`years and months duration(${from}, date("2024-03-14"))`)).toBe("P4Y1M");
    expect(feelValue(`years and months duration(to: ${from}, from: ${from})`)).toBe("P0M");
    expect(feelValue('years and months duration("2020-01-15", "2024-03-14")')).toBe(null);
  });

  test("counts whole months, as a calendar does", () => {
    const days = fc
      .integer({ min: -200_000, max: 200_000 })
      .map((n) => Temporal.PlainDate.from("2024-02-29").add({ days: n }));
    fc.assert(
      fc.property(days, days, (from, to) => {
        const { years, months } = from.until(to, { largestUnit: "year" });
        const text = new Temporal.Duration(years, months).toString();
        expect(between(`${from}`, `${to}`)).toBe(text === "PT0S" ? "P0M" : text);
      }),
    );
  });
});

function between(from: string, to: string) {
  return feelValue("years and months duration(date(from), date(to))", { from, to });
}
