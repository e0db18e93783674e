import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Cron, nextMatch, parseCron } from "../../../lib/definition/time/cron.ts";
import { parseCycle } from "../../../lib/definition/time/cycle.ts";
import { formatInstant, type Instant } from "../../../lib/definition/time/instant.ts";
import { aRecentInstant, aZoneName } from "./arbitraries.ts";
import { at, valueIn, zone } from "./values.ts";

function cron(text: string, zoneName?: string): Cron {
  return valueIn(parseCron(text, zoneName === undefined ? undefined : zone(zoneName)));
}

/** The matches that follow, as texts without what is always the same. */
function matches(expression: Cron, from: string, howMany: number): string[] {
  const found: string[] = [];
  let after: Instant = at(from);
  while (found.length < howMany) {
    const next = nextMatch(expression, after);
    if (next === undefined) break;
    found.push(formatInstant(next).replace(":00.000Z", "").replace(".000Z", ""));
    after = next;
  }
  return found;
}

describe("a cron expression (T3)", () => {
  test.each([
    [
      "0 0 9-17 * * MON-FRI",
      "2024-03-01T16:30",
      ["2024-03-01T17:00", "2024-03-04T09:00", "2024-03-04T10:00"],
    ],
    [
      "*/10 * * * * *",
      "2024-01-01T00:00:05",
      ["2024-01-01T00:00:10", "2024-01-01T00:00:20", "2024-01-01T00:00:30"],
    ],
    [
      "0 5/15 * * * *",
      "2024-01-01",
      ["2024-01-01T00:05", "2024-01-01T00:20", "2024-01-01T00:35", "2024-01-01T00:50"],
    ],
    ["0 0 0 31 * *", "2024-01-31", ["2024-03-31T00:00", "2024-05-31T00:00", "2024-07-31T00:00"]],
    ["0 0 0 29 2 *", "2024-02-29", ["2028-02-29T00:00", "2032-02-29T00:00"]],
    [
      "0 0 12 L * *",
      "2024-01-31T12:00",
      ["2024-02-29T12:00", "2024-03-31T12:00", "2024-04-30T12:00"],
    ],
    ["0 0 12 L-3 * *", "2024-02-01", ["2024-02-26T12:00", "2024-03-28T12:00", "2024-04-27T12:00"]],
    [
      "0 0 12 LW * *",
      "2024-03-01",
      ["2024-03-29T12:00", "2024-04-30T12:00", "2024-05-31T12:00", "2024-06-28T12:00"],
    ],
    [
      "0 0 12 15W * *",
      "2024-06-01",
      ["2024-06-14T12:00", "2024-07-15T12:00", "2024-08-15T12:00", "2024-09-16T12:00"],
    ],
    [
      "0 0 12 1W * *",
      "2024-06-01",
      ["2024-06-03T12:00", "2024-07-01T12:00", "2024-08-01T12:00", "2024-09-02T12:00"],
    ],
    ["0 0 9 ? * MON#1", "2024-01-02", ["2024-02-05T09:00", "2024-03-04T09:00", "2024-04-01T09:00"]],
    [
      "0 0 0 ? * 1#5",
      "2024-01-01",
      ["2024-01-29T00:00", "2024-04-29T00:00", "2024-07-29T00:00", "2024-09-30T00:00"],
    ],
    ["0 0 9 ? * 5L", "2024-01-01", ["2024-01-26T09:00", "2024-02-23T09:00", "2024-03-29T09:00"]],
    ["0 0 9 ? * FRIL", "2024-01-01", ["2024-01-26T09:00", "2024-02-23T09:00", "2024-03-29T09:00"]],
    [
      "0 0 9 13 * FRI",
      "2024-01-01",
      ["2024-09-13T09:00", "2024-12-13T09:00", "2025-06-13T09:00", "2026-02-13T09:00"],
    ],
    ["0 0 9 * * 0", "2024-01-01", ["2024-01-07T09:00", "2024-01-14T09:00"]],
    ["0 0 9 * * 7", "2024-01-01", ["2024-01-07T09:00", "2024-01-14T09:00"]],
    [
      "0 0 0 * * FRI-MON",
      "2024-01-02",
      ["2024-01-05T00:00", "2024-01-06T00:00", "2024-01-07T00:00", "2024-01-08T00:00"],
    ],
    ["0 0 8,12,18 * JAN,JUL *", "2024-01-31T12:00", ["2024-01-31T18:00", "2024-07-01T08:00"]],
    ["@hourly", "2024-01-01", ["2024-01-01T01:00"]],
    ["@daily", "2024-01-01", ["2024-01-02T00:00"]],
    ["@midnight", "2024-01-01", ["2024-01-02T00:00"]],
    ["@weekly", "2024-01-01", ["2024-01-07T00:00"]],
    ["@monthly", "2024-01-01", ["2024-02-01T00:00"]],
    ["@yearly", "2024-01-01", ["2025-01-01T00:00"]],
    ["@annually", "2024-01-01", ["2025-01-01T00:00"]],
    // Beyond the table: the month that lacks the day, and the rules' corners.
    ["0 0 12 31W * *", "2024-02-01", ["2024-03-29T12:00", "2024-05-31T12:00"]],
    ["0 0 12 L-29 * *", "2024-01-31", ["2024-03-02T12:00", "2024-04-01T12:00"]],
    ["0 0 0 1,L * ?", "2024-01-31", ["2024-02-01T00:00", "2024-02-29T00:00"]],
    ["0 0 0 * * SAT-SUN", "2024-01-01", ["2024-01-06T00:00", "2024-01-07T00:00"]],
    ["0 0 0 * * 5-7", "2024-01-01", ["2024-01-05T00:00", "2024-01-06T00:00", "2024-01-07T00:00"]],
    ["0 0 0 ? * 0L", "2024-01-01", ["2024-01-28T00:00"]],
    ["0 0 0 ? * MON#1,FRI#5", "2024-02-06", ["2024-03-04T00:00", "2024-03-29T00:00"]],
    ["0 0 0 29 2 MON#5", "2024-03-01", ["2044-02-29T00:00", "2072-02-29T00:00"]],
    [
      "0 10-40/15 0 1 1 *",
      "2024-01-01",
      ["2024-01-01T00:10", "2024-01-01T00:25", "2024-01-01T00:40"],
    ],
  ])("%s after %s", (text, from, expected) => {
    const found = matches(cron(text), from, expected.length);

    expect(found).toEqual(expected);
  });

  test.each([
    ["0 0 9 * * mon-fri", "0 0 9 * * MON-FRI"],
    ["0  0 9   *\t* MON-FRI", "0 0 9 * * MON-FRI"],
    [" 0 0 9 * jan MON-FRI ", "0 0 9 * 1 1-5"],
    ["0 0 9 ? * MON-FRI", "0 0 9 * * MON-FRI"],
    ["0 0 9 15 * ?", "0 0 9 15 * *"],
    ["@Daily", "0 0 0 * * *"],
  ])("%j means the same as %j", (text, same) => {
    expect(matches(cron(text), "2024-01-01", 20)).toEqual(matches(cron(same), "2024-01-01", 20));
  });

  test.each([
    ["0 9 * * MON-FRI", "Seconds come first: 0 0 9 * * MON-FRI."],
    ["0 0 9 * * MON-FRI 2024", "Leave out the year: 0 0 9 * * MON-FRI."],
    ["0 0 9 *", "Write second minute hour"],
    ["@reboot", "Write one of @yearly"],
    ["60 * * * * *", "0 to 59"],
    ["0 60 * * * *", "0 to 59"],
    ["0 0 24 * * *", "0 to 23"],
    ["0 0 0 0 * *", "1 to 31"],
    ["0 0 0 32 * *", "1 to 31"],
    ["0 0 0 * 0 *", "1 to 12"],
    ["0 0 0 * 13 *", "1 to 12"],
    ["0 0 0 * * 8", "0 to 7"],
    ["20-10 * * * * *", "20-59,0-10"],
    ["0 20-10 * * * *", "20-59,0-10"],
    ["0 0 20-10 * * *", "20-23,0-10"],
    ["0 0 0 20-10 * *", "20-31,1-10"],
    ["0 0 0 * NOV-FEB *", "11-12,1-2"],
    ["0 0 0 * * *SUN", "Write *"],
    ["0 0 0 31 6 *", "No month has such a day"],
    ["0 0 0 30 2 *", "No month has such a day"],
    ["0 0 0 31 2,4 *", "No month has such a day"],
    ["0 0 0 ? * ?", "Write * in one"],
    ["0 0 0 ?,1 * *", "Write"],
    ["? 0 0 * * *", "Write"],
    ["0 0 0 * * L", "Say which day"],
    ["0 0 0 * * MON#0", "first to the fifth"],
    ["0 0 0 * * MON#6", "first to the fifth"],
    ["0 0 0 * * XXX#1", "a name such as"],
    ["0 0 0 * * XXXL", "a name such as"],
    ["0 0 0 * * MON-", "Write *"],
    ["0 0 0 L-0 * *", "L-1 to L-30"],
    ["0 0 0 L-31 * *", "L-1 to L-30"],
    ["0 0 0 0W * *", "1 to 31"],
    ["0 0 0 32W * *", "1 to 31"],
    ["0 0 0 1-5W * *", "LW for the last working day"],
    ["0 0/0 * * * *", "a step of 1 to 60"],
    ["0 */61 * * * *", "a step of 1 to 60"],
    ["0 0 1,,2 * * *", "Write *"],
    ["0 0 -1 * * *", "Write *"],
    ["0 0 1.5 * * *", "Write *"],
    ["0 0 FOO * * *", "0 to 23"],
    ["0 0 FOO-3 * * *", "0 to 23"],
    ["0 0 1-FOO * * *", "0 to 23"],
    ["", "Write second minute hour"],
  ])("%j is refused with a hint", (text, hint) => {
    const parsed = parseCron(text);

    expect(parsed.ok).toBe(false);
    expect(parsed.ok === false && parsed.hint).toContain(hint);
  });
});

// T4 lists what EventBridge Scheduler accepts and what not. The engine never passes a user's text
// to it, so none of these has a meaning here; the error says what to write instead.
describe("a schedule of EventBridge (T4)", () => {
  test.each([
    "rate(5 minutes)",
    "rate(1 hour)",
    "rate(2 days)",
    "cron(0 18 ? * MON-FRI *)",
    "cron(*/15 * * * ? *)",
    "cron(0-15/1 8-8 ? * 2,3,4,5,6,7 *)",
    "cron(30-30 13-13 ? * 2,4,6 *)",
    "cron(1-31/30 1-1 ? * 1,7 *)",
    "cron(0-59/10 0-23/2 ? * * *)",
    "at(2026-12-31T23:59:59)",
    "cron(0 1 * * * *)",
    "cron(7 20 * * NOT *)",
    "cron(INVALID)",
    "cron(0 dummy ? * MON-FRI *)",
    "cron(71 8 1 * ? *)",
    "cron()",
    "rate(10 seconds)",
    "rate(10 years)",
    "rate()",
    "rate(10)",
    "rate(10 minutess)",
    "rate(foo minutes)",
    "rate(-10 minutes)",
    "rate( 10 minutes )",
    " rate(10 minutes)",
    "at(2021-12-31T23:59:59Z)",
    "at(2021-12-31)",
    "rate(1 minutes)",
    "rate(10 minute)",
    "rate(0 minutes)",
    "rate(10 MINUTES)",
  ])("%j is refused as a cycle, with a hint", (text) => {
    const parsed = parseCycle(text);

    expect(parsed).toMatchObject({ ok: false, hint: expect.stringContaining("R/PT5M") });
  });
});

describe("cron in a zone (T6)", () => {
  test.each([
    // A wall time that the zone skips does not fire.
    ["0 30 2 * * *", "Europe/Berlin", "2024-03-30", ["2024-03-30T01:30", "2024-04-01T00:30"]],
    // One that it repeats fires once.
    ["0 30 2 * * *", "Europe/Berlin", "2024-10-26T12:00", ["2024-10-27T00:30", "2024-10-28T01:30"]],
    // Where every hour is meant, time simply goes on.
    [
      "0 */20 * * * *",
      "Europe/Berlin",
      "2024-10-27T00:10",
      ["2024-10-27T00:20", "2024-10-27T00:40", "2024-10-27T01:00", "2024-10-27T01:20"],
    ],
    ["0 0 2 * * *", "America/New_York", "2024-03-09T12:00", ["2024-03-11T06:00"]],
    [
      "0 30 1 * * *",
      "America/New_York",
      "2024-11-02T12:00",
      ["2024-11-03T05:30", "2024-11-04T06:30"],
    ],
    // From within the second of the two hours nothing of it is left.
    ["0 30 2 * * *", "Europe/Berlin", "2024-10-27T01:10", ["2024-10-28T01:30"]],
    ["0 0 3 * * *", "Europe/Berlin", "2024-10-27T00:59", ["2024-10-27T02:00"]],
    // In the spring the hour that is missing is no gap between the quarters.
    [
      "0 */30 * * * *",
      "Europe/Berlin",
      "2024-03-31T00:10",
      ["2024-03-31T00:30", "2024-03-31T01:00", "2024-03-31T01:30"],
    ],
    ["0 0 0 29 2 *", "Europe/Berlin", "2024-02-29", ["2028-02-28T23:00", "2032-02-28T23:00"]],
    // Half an hour, at two in the morning; and a day that never was.
    [
      "0 45 1 * * *",
      "Australia/Lord_Howe",
      "2024-04-06T12:00",
      ["2024-04-06T14:45", "2024-04-07T15:15"],
    ],
    ["0 0 12 30 * *", "Pacific/Apia", "2011-12-01", ["2012-01-29T22:00"]],
    ["0 0 12 * * *", "UTC", "2024-01-01", ["2024-01-01T12:00"]],
  ])("%s in %s after %s", (text, zoneName, from, expected) => {
    const found = matches(cron(text, zoneName), from, expected.length);

    expect(found).toEqual(expected);
  });

  test("never fires if its zone skips every match", () => {
    expect(nextMatch(cron("0 30 2 31 3 SUN", "Europe/Berlin"), at("2024-01-01"))).toBeUndefined();
    expect(nextMatch(cron("0 30 2 ? 3 SUNL", "Europe/Berlin"), at("2024-01-01"))).toBeUndefined();
    expect(nextMatch(cron("0 30 2 ? 3 SUNL"), at("2024-01-01"))).toBe(at("2024-03-31T02:30"));
  });

  test("ends with the last year", () => {
    expect(nextMatch(cron("0 0 0 1 1 *"), at("9999-06-01"))).toBeUndefined();
    expect(nextMatch(cron("0 0 9 1 1 *", "Europe/Berlin"), at("9999-06-01"))).toBeUndefined();
    expect(nextMatch(cron("0 0 0 29 2 *", "Europe/Berlin"), at("9999-06-01"))).toBeUndefined();
  });
});

const aField = (max: number) =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constant("*") },
    fc.integer({ min: 0, max }).map(String),
    fc.tuple(fc.integer({ min: 0, max }), fc.integer({ min: 1, max })).map(([a, b]) => `${a}/${b}`),
  );
const anExpression = fc
  .tuple(
    aField(59),
    aField(59),
    aField(23),
    fc.constantFrom("*", "?", "1", "15", "31", "L", "LW", "L-2", "15W", "1-10", "*/7"),
    fc.constantFrom("*", "JAN,MAR,OCT", "*/2", "3-11"),
    fc.constantFrom("*", "MON-FRI", "SUN", "TUE#2", "FRIL", "FRI-MON"),
  )
  .map((fields) => fields.join(" "));

describe("the next match", () => {
  test("is later, on a whole second, and nothing between is one", () => {
    fc.assert(
      fc.property(
        anExpression,
        aZoneName,
        aRecentInstant,
        fc.nat(1_000_000),
        (text, z, from, part) => {
          const parsed = parseCron(text, zone(z));
          fc.pre(parsed.ok);
          const expression = valueIn(parsed);
          const next = nextMatch(expression, from);
          if (next === undefined) return;

          expect(next).toBeGreaterThan(from);
          expect(next % 1_000).toBe(0);
          const between = (from + Math.floor(((next - from - 1) * part) / 1_000_000)) as Instant;
          expect(nextMatch(expression, between)).toBe(next);
          expect(nextMatch(expression, (next - 1) as Instant)).toBe(next);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("has matching fields in the local time of its zone", () => {
    fc.assert(
      fc.property(
        fc.nat(59),
        fc.nat(59),
        fc.nat(23),
        aZoneName,
        aRecentInstant,
        (s, m, h, z, from) => {
          const next = nextMatch(cron(`${s} ${m} ${h} * * *`, z), from);

          const wall = new Intl.DateTimeFormat("en-GB", {
            timeZone: z,
            hour: "numeric",
            minute: "numeric",
            second: "numeric",
            hourCycle: "h23",
          }).format(next);
          expect(wall.split(":").map(Number)).toEqual([h, m, s]);
        },
      ),
      { numRuns: 300 },
    );
  });
});
