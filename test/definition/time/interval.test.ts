import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_REPETITIONS, MIN_CYCLE_INTERVAL_MS } from "../../../lib/definition/limits.ts";
import {
  formatInstant,
  type Instant,
  instantFrom,
  LAST_INSTANT,
} from "../../../lib/definition/time/instant.ts";
import {
  dueAfterFiring,
  firstDue,
  nextDue,
  parseRepeatingInterval,
  parseStoredInterval,
  type RepeatingInterval,
  realign,
} from "../../../lib/definition/time/interval.ts";
import { aRecentInstant, aZoneName } from "./arbitraries.ts";
import { at, valueIn, zone } from "./values.ts";

const PT5S = { months: 0, days: 0, timeMs: 5_000 };

function cycle(text: string): RepeatingInterval {
  return valueIn(parseRepeatingInterval(text));
}

/** The first due instants of a cycle that is armed at `armedAt` and fires on time. */
function dues(text: string, armedAt: Instant, howMany: number): string[] {
  const found = [firstDue(cycle(text), armedAt)];
  while (found.length < howMany) found.push(nextDue(cycle(text), found.at(-1) ?? armedAt));
  return found.map(formatInstant);
}

describe("a cycle (T2), F11", () => {
  test.each([
    ["R1/PT5S", { repetitions: 1, every: PT5S }],
    ["R-1/PT5S", { repetitions: "unbounded", every: PT5S }],
    ["R/PT5S", { repetitions: "unbounded", every: PT5S }],
    ["R+2/PT5S", { repetitions: 2, every: PT5S }],
    ["R05/PT5S", { repetitions: 5, every: PT5S }],
    ["R//PT5S", { repetitions: "unbounded", every: PT5S }],
    ["R3//PT5S", { repetitions: 3, every: PT5S }],
    ["R3/2022-04-27T17:20Z/PT5S", { repetitions: 3, every: PT5S, start: at("2022-04-27T17:20") }],
    [
      "R/2022-01-01T10:00:00+02:00[Europe/Berlin]/PT5S",
      {
        repetitions: "unbounded",
        every: PT5S,
        start: at("2022-01-01T08:00"),
        zone: "Europe/Berlin",
      },
    ],
  ])("reads %s", (text, interval) => {
    expect(parseRepeatingInterval(text)).toEqual({ ok: true, value: interval });
  });

  test.each([
    ["R0/PT5S", "or R for a cycle that never ends"],
    ["R-5/PT5S", "or R for a cycle that never ends"],
    ["R99999999999/PT5S", "or R for a cycle that never ends"],
    ["R3/2022-04-27T17:20:00/P1D", "offset"],
    ["R3/2022-04-27/P1D", "Add the time"],
    ["R3/P1D/2022-04-27T17:20:00Z", "no end instant"],
    ["R3/2022-04-27T17:20:00Z/2022-04-28T17:20:00Z", "no end instant"],
    ["R3/PT10M/PT20M", "Write date"],
    ["R2/-PT5S", "without a minus sign"],
    ["R2/P1DT-1H", "without a minus sign"],
    ["R/PT0S", "PT1S"],
    ["R1000000/PT0S", "PT1S"],
    ["R1/PT0S", "PT1S"],
    ["R3/2022-04-27T17:20:00Z/PT0.001S", "PT1S"],
    ["R/2022-04-27T17:20:00Z/PT0.5S", "PT1S"],
    ["R3/PT1.5H", "PT1H30M"],
    ["R", "interval is missing"],
    ["R/", "interval is missing"],
    ["R5/", "interval is missing"],
    ["/PT5S", "begins with R"],
    ["PT5S", "begins with R"],
    ["", "begins with R"],
    ["RA/PT5S", "R3/PT10M"],
    ["R1/2/3/PT5S", "R3/PT10M"],
    ["R 3/PT5S", "blanks"],
    ["R3 /PT5S", "blanks"],
    ["R3/ PT5S", "blanks"],
    ["r3/PT5S", "R3/PT5S"],
  ])("refuses %j with a hint that says %j", (text, hint) => {
    expect(parseRepeatingInterval(text)).toEqual({
      ok: false,
      problem: expect.stringContaining(JSON.stringify(text)),
      hint: expect.stringContaining(hint),
    });
  });

  test("may ask for the most firings, and not for one more", () => {
    expect(parseRepeatingInterval(`R${MAX_REPETITIONS}/PT5S`).ok).toBe(true);
    expect(parseRepeatingInterval(`R${MAX_REPETITIONS + 1}/PT5S`).ok).toBe(false);
  });

  test.each(["R", "R3", "R1000000"])(
    "may have the shortest interval after %s, and not a millisecond less",
    (times) => {
      expect(MIN_CYCLE_INTERVAL_MS).toBe(1_000);
      expect(parseRepeatingInterval(`${times}/PT1S`).ok).toBe(true);
      expect(parseRepeatingInterval(`${times}/PT0.999S`).ok).toBe(false);
    },
  );

  test.each(["R3/PT0S", "R3/PT0.999S"])("that is stored as %s fires every second", (text) => {
    const read = parseStoredInterval(text);

    expect(read).toEqual({
      ok: true,
      value: { repetitions: 3, every: { months: 0, days: 0, timeMs: 1_000 } },
    });
  });

  test("that is stored keeps an interval that is long enough", () => {
    expect(parseStoredInterval("R3/PT5S")).toEqual(parseRepeatingInterval("R3/PT5S"));
    expect(parseStoredInterval("R3/P1M")).toEqual(parseRepeatingInterval("R3/P1M"));
  });

  test("uses the given zone, unless its start names one", () => {
    const given = zone("America/New_York");

    expect(parseRepeatingInterval("R/P1D", given)).toMatchObject({ value: { zone: given } });
    expect(
      parseRepeatingInterval("R/2022-01-01T10:00:00+01:00[Europe/Berlin]/P1D", given),
    ).toMatchObject({ value: { zone: "Europe/Berlin" } });
  });
});

describe("the due instants of a cycle (F11)", () => {
  const armedAt = at("2024-01-01T12:00");

  test.each([
    ["R3/PT10M", ["2024-01-01T12:10", "2024-01-01T12:20", "2024-01-01T12:30"]],
    ["R/P1D", ["2024-01-02T12:00", "2024-01-03T12:00", "2024-01-04T12:00"]],
    ["R3/2024-04-27T17:20:00Z/P1D", ["2024-04-27T17:20", "2024-04-28T17:20", "2024-04-29T17:20"]],
    ["R3/2022-04-27T17:20:00Z/P1D", ["2024-01-01T12:00", "2024-01-02T12:00", "2024-01-03T12:00"]],
    ["R3/2024-04-27T17:20Z/PT1H", ["2024-04-27T17:20", "2024-04-27T18:20"]],
    [
      "R5/2024-01-31T00:00:00Z/P1M",
      ["2024-01-31", "2024-02-29", "2024-03-29", "2024-04-29", "2024-05-29"],
    ],
    [
      "R/2024-03-29T02:30:00+01:00[Europe/Berlin]/P1D",
      ["2024-03-29T01:30", "2024-03-30T01:30", "2024-03-31T01:30", "2024-04-01T01:30"],
    ],
    [
      "R/2024-10-26T02:30:00+02:00[Europe/Berlin]/P1D",
      ["2024-10-26T00:30", "2024-10-27T00:30", "2024-10-28T01:30"],
    ],
    [
      "R/2024-03-29T12:00:00+02:00[Europe/Berlin]/P1D",
      ["2024-03-29T10:00", "2024-03-30T10:00", "2024-03-31T09:00"],
    ],
  ])("%s are as the calendar says", (text, expected) => {
    expect(dues(text, armedAt, expected.length)).toEqual(expected.map((e) => formatInstant(at(e))));
  });

  test("begin now when the start is now", () => {
    expect(firstDue(cycle("R3/2024-01-01T12:00:00Z/P1D"), armedAt)).toBe(armedAt);
  });
});

describe("a cycle after an outage (F11)", () => {
  const previousDue = at("2024-01-01T12:00");
  const now = at("2024-01-05T18:30");

  test("that is finite continues with the next one that it missed", () => {
    expect(dueAfterFiring(cycle("R3/P1D"), { previousDue, now })).toBe(at("2024-01-02T12:00"));
  });

  test("that never ends continues after now, in its old rhythm", () => {
    expect(dueAfterFiring(cycle("R/P1D"), { previousDue, now })).toBe(at("2024-01-06T12:00"));
  });

  test("that never ends skips the instant that is now, since it fires now", () => {
    const onTheWay = at("2024-01-05T12:00");

    expect(realign(cycle("R/P1D"), { previousDue, now: onTheWay })).toBe(at("2024-01-06T12:00"));
  });

  test("that was not late is due one interval later", () => {
    expect(realign(cycle("R/P1D"), { previousDue, now: previousDue })).toBe(at("2024-01-02T12:00"));
  });

  test("of years needs no loop over every firing", () => {
    const longAgo = at("0001-01-01");

    const due = realign(cycle("R/PT1S"), { previousDue: longAgo, now });

    expect(due).toBe(now + 1_000);
  });

  test("stays at the last instant if there is no later one", () => {
    expect(realign(cycle("R/P1D"), { previousDue, now: LAST_INSTANT })).toBe(LAST_INSTANT);
    expect(realign(cycle("R/P1M"), { previousDue, now: LAST_INSTANT })).toBe(LAST_INSTANT);
  });

  test("is due where a loop over every missed one would end", () => {
    const every = fc.oneof(
      fc.record({
        months: fc.integer({ min: 1, max: 5 }),
        days: fc.integer({ min: 0, max: 40 }),
        timeMs: fc.integer({ min: 0, max: 100_000_000 }),
      }),
      fc.record({
        months: fc.constant(0),
        days: fc.integer({ min: 1, max: 4 }),
        timeMs: fc.constantFrom(0, 0, 1, 3_600_000, 86_400_000),
      }),
      fc.record({
        months: fc.constant(0),
        days: fc.constant(0),
        timeMs: fc.integer({ min: 5_000_000, max: 100_000_000 }),
      }),
    );
    const outageMs = fc.integer({ min: 0, max: 400 * 86_400_000 });
    fc.assert(
      fc.property(every, aRecentInstant, outageMs, aZoneName, (interval, start, late, zoneName) => {
        const subject: RepeatingInterval = {
          repetitions: "unbounded",
          every: interval,
          zone: zone(zoneName),
        };
        const wokenAt = instantFrom(start + late);
        let naive = nextDue(subject, start);
        while (naive <= wokenAt) naive = nextDue(subject, naive);

        expect(realign(subject, { previousDue: start, now: wokenAt })).toBe(naive);
      }),
    );
  });
});
