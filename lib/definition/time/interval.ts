// Cycles: R3/PT10M, R/P1D, R3/2024-01-31T10:00:00Z/P1D.
// 1. Each due instant is the previous due instant plus the interval, however late the firing was.
//    There is no memory of a day that a month lacked: 31 Jan, 29 Feb, 29 Mar.
// 2. A start in the past counts as the moment of arming, and the cycle goes on from there.
// 3. After an outage a finite cycle makes up for each missed firing; an unbounded one fires once
//    and continues with the first due instant after now on its schedule.
// 4. No interval is shorter than a second. Older releases took shorter ones where the cycle ends:
//    those that are stored fire every second.

import { Temporal } from "temporal-polyfill";
import { MAX_REPETITIONS, MIN_CYCLE_INTERVAL_MS } from "../limits.ts";
import { accepted, type Parsed, quoted, refused } from "../parsed.ts";
import { addDuration, type Duration, parseDuration } from "./duration.ts";
import { type Instant, instantFrom, LAST_INSTANT, parseZonedInstant } from "./instant.ts";
import { isUtc, type TimeZone } from "./time-zone.ts";

/** A cycle: how often it fires in all, how far apart, from when, and by which zone's calendar. */
export type RepeatingInterval = Readonly<{
  repetitions: number | "unbounded";
  every: Duration;
  start?: Instant;
  zone?: TimeZone;
}>;

/** Reads an ISO 8601 repeating interval; the zone of its start, if it has one, outdoes `zone`. */
export function parseRepeatingInterval(text: string, zone?: TimeZone): Parsed<RepeatingInterval> {
  const read = readInterval(text, zone);
  if (!read.ok || !isTooShort(read.value.every)) return read;
  return refused(
    `The interval of cycle ${quoted(text)} is too short.`,
    `Write an interval of ${MIN_CYCLE_INTERVAL_MS / 1_000} second or more, for example PT1S.`,
  );
}

/** Reads a repeating interval that an engine has taken before: see rule 4. */
export function parseStoredInterval(text: string, zone?: TimeZone): Parsed<RepeatingInterval> {
  const read = readInterval(text, zone);
  if (!read.ok || !isTooShort(read.value.every)) return read;
  return accepted({ ...read.value, every: { months: 0, days: 0, timeMs: MIN_CYCLE_INTERVAL_MS } });
}

function readInterval(text: string, zone: TimeZone | undefined): Parsed<RepeatingInterval> {
  const match = CYCLE.exec(text);
  if (match === null) return refused(`${quoted(text)} is not a cycle.`, whyNoCycle(text));
  const repetitions = parseRepetitions(text, match[1]);
  if (!repetitions.ok) return repetitions;
  const every = parseEvery(text, match[3] ?? "");
  if (!every.ok) return every;
  const cycle = { repetitions: repetitions.value, every: every.value, ...(zone && { zone }) };
  if (match[2] === undefined || match[2] === "") return accepted(cycle);
  const start = parseZonedInstant(match[2]);
  if (!start.ok) return refused(`The start of cycle ${quoted(text)}: ${start.problem}`, start.hint);
  const { at, zone: zoneOfStart } = start.value;
  return accepted({ ...cycle, start: at, ...(zoneOfStart && { zone: zoneOfStart }) });
}

/** When a cycle that is armed now fires first: at its start if that lies ahead, never before now. */
export function firstDue({ start, every, zone }: RepeatingInterval, armedAt: Instant): Instant {
  if (start === undefined) return addDuration(armedAt, every, zone);
  return start > armedAt ? start : armedAt;
}

/** When a cycle that fired for `previousDue` at `now` is due again, missed firings considered. */
export function dueAfterFiring(cycle: RepeatingInterval, { previousDue, now }: Firing): Instant {
  return cycle.repetitions === "unbounded"
    ? realign(cycle, { previousDue, now })
    : nextDue(cycle, previousDue);
}

/** The due instant of a firing, and the moment when it happened. */
export type Firing = Readonly<{ previousDue: Instant; now: Instant }>;

/** The due instant that follows this one. */
export function nextDue({ every, zone }: RepeatingInterval, previousDue: Instant): Instant {
  return addDuration(previousDue, every, zone);
}

/** The first due instant after `previousDue` that lies after now: what was missed is skipped. */
export function realign(cycle: RepeatingInterval, { previousDue, now }: Firing): Instant {
  let due = nextDue(cycle, previousDue);
  while (due <= now && due < LAST_INSTANT) due = nextDue(cycle, leap(cycle, due, now));
  return due;
}

/**
 * Takes as many intervals as it can at once without passing now: all of them while each is equally
 * long, none where months come in. In a zone the days are equal until its offset changes, so that
 * the loop above turns twice a year at most, or once a month.
 */
function leap({ every, zone }: RepeatingInterval, due: Instant, now: Instant): Instant {
  if (every.months !== 0) return due;
  const intervalMs = every.days * MS_PER_DAY + every.timeMs;
  const equalUntil = every.days === 0 ? now : Math.min(now, lastOfOffset(due, zone));
  return instantFrom(due + Math.floor((equalUntil - due) / intervalMs) * intervalMs);
}

/** The last instant at which the zone's offset is still the one that it has now. */
function lastOfOffset(at: Instant, zone: TimeZone | undefined): number {
  if (zone === undefined || isUtc(zone)) return LAST_INSTANT;
  const here = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
  const change = here.getTimeZoneTransition("next");
  return change === null ? LAST_INSTANT : change.epochMilliseconds - 1;
}

const MS_PER_DAY = 86_400_000;

// Groups: 1 repetitions, 2 start, 3 interval. A slash in a bracketed zone separates nothing.
const CYCLE = /^R([+-]?\d+)?\/(?:([^/[]*(?:\[[^\]]*\])?)\/)?([^/]+)$/;

function isTooShort({ months, days, timeMs }: Duration): boolean {
  return months === 0 && days === 0 && timeMs < MIN_CYCLE_INTERVAL_MS;
}

function parseRepetitions(
  text: string,
  count: string | undefined,
): Parsed<RepeatingInterval["repetitions"]> {
  // R-1 is how some modelers write "for ever".
  const repetitions = count === undefined ? -1 : Number(count);
  if (repetitions === -1) return accepted("unbounded");
  if (repetitions >= 1 && repetitions <= MAX_REPETITIONS) return accepted(repetitions);
  return refused(
    `The cycle ${quoted(text)} cannot repeat that often.`,
    `Write R1 to R${MAX_REPETITIONS}, or R for a cycle that never ends.`,
  );
}

function parseEvery(text: string, interval: string): Parsed<Duration> {
  const every = parseDuration(interval);
  if (!every.ok)
    return refused(
      `The interval of cycle ${quoted(text)}: ${every.problem}`,
      endHint(interval) ?? every.hint,
    );
  const { months, days, timeMs } = every.value;
  if (months < 0 || days < 0 || timeMs < 0) {
    return refused(
      `The interval of cycle ${quoted(text)} goes backwards.`,
      "Write an interval without a minus sign, for example PT10M.",
    );
  }
  return every;
}

function endHint(interval: string): string | undefined {
  if (!/^\d{4}-/.test(interval)) return undefined;
  return "A cycle has no end instant. Write R3/START/INTERVAL, for example R3/2024-01-31T10:00:00Z/P1D.";
}

function whyNoCycle(text: string): string {
  if (/\s/.test(text)) return "Remove the blanks.";
  if (text.startsWith("r")) return `Write the R in upper case: R${text.slice(1)}.`;
  if (/^R[+-]?\d*\/?$/.test(text)) return "The interval is missing. Write for example R3/PT10M.";
  if (!text.startsWith("R"))
    return "It begins with R and a number of firings: R3/PT10M, or R/P1D for ever.";
  return "Write R3/PT10M, R/P1D for ever, or with a start R3/2024-01-31T10:00:00Z/P1D.";
}
