// Cron: six fields, second minute hour day-of-month month day-of-week, as Camunda reads them.
// 1. Both day fields must agree: 13 and FRI together mean Friday the 13th. `?` leaves it to the other.
// 2. 0 and 7 are Sunday, 1 is Monday. Ranges of weekdays may go past the end of the week.
// 3. The wall clock of the zone counts, daylight saving time (DST) included. A wall time that the
//    zone skips does not fire. One that it repeats fires the first time only, unless every hour is
//    meant: then time simply goes on.
// 4. The calendar repeats after 400 years: what matches no day of these never will, and is refused.

import { Temporal } from "temporal-polyfill";
import { accepted, type Parsed, quoted, refused } from "../parsed.ts";
import { type CalendarDate, dateFromDays, daysFromDate } from "./calendar.ts";
import { type DayOfMonth, type DayOfWeek, type Month, matchingDays } from "./cron-days.ts";
import {
  HOUR,
  MINUTE,
  MONTH,
  parseDays,
  parseValues,
  parseWeekdays,
  SECOND,
} from "./cron-fields.ts";
import { type Instant, instantFrom, LAST_INSTANT } from "./instant.ts";
import { isUtc, type TimeZone } from "./time-zone.ts";

/** When something happens again and again by the calendar; lists are in order, none is empty. */
export type Cron = Readonly<{
  seconds: readonly number[];
  minutes: readonly number[];
  hours: readonly number[];
  days: readonly DayOfMonth[];
  months: readonly number[];
  weekdays: readonly DayOfWeek[];
  zone?: TimeZone;
}>;

/** Whether a text is meant as cron rather than as a repeating interval, which begins with R. */
export function looksLikeCron(text: string): boolean {
  const trimmed = text.trim();
  return trimmed.startsWith("@") || AWS_FORM.test(trimmed) || /\S\s+\S+\s+\S+\s+\S/.test(trimmed);
}

/** Reads a cron expression of six fields, or one of the macros such as @daily. */
export function parseCron(text: string, zone?: TimeZone): Parsed<Cron> {
  const written = text.trim().toUpperCase();
  const plain = written.startsWith("@") ? MACROS.get(written) : written;
  if (plain === undefined) {
    const known = [...MACROS.keys()].map((macro) => macro.toLowerCase()).join(", ");
    return refused(`${quoted(text)} is not known.`, `Write one of ${known}, or six fields.`);
  }
  if (AWS_FORM.test(plain)) return refused(`${quoted(text)} is a schedule of AWS.`, AWS_HINT);
  const fields = plain.split(/\s+/);
  if (fields.length !== 6) return refused(...wrongCount(text, fields));
  const cron = parseFields(fields, zone);
  if (!cron.ok) return refused(`The cron expression ${quoted(text)}: ${cron.problem}`, cron.hint);
  const isBothOpen = fields[3] === "?" && fields[5] === "?";
  if (isBothOpen || dayFrom(cron.value, 0, MONTHS_PER_ERA) === undefined) {
    return refused(
      `The cron expression ${quoted(text)} never fires.`,
      isBothOpen ? "Write * in one of the two day fields." : "No month has such a day; correct it.",
    );
  }
  return cron;
}

/** The first instant after this one at which the expression matches; undefined past the last. */
export function nextMatch(cron: Cron, after: Instant): Instant | undefined {
  const fromSecond = (Math.floor(after / 1_000) + 1) * 1_000;
  const { zone } = cron;
  const found =
    zone === undefined || isUtc(zone)
      ? wallMatch(cron, fromSecond)
      : matchInZone(cron, zone, fromSecond);
  return found === undefined || found > LAST_INSTANT ? undefined : instantFrom(found);
}

function parseFields(fields: readonly string[], zone: TimeZone | undefined): Parsed<Cron> {
  const [second = "", minute = "", hour = "", day = "", month = "", weekday = ""] = fields;
  const seconds = parseValues(second, SECOND);
  if (!seconds.ok) return seconds;
  const minutes = parseValues(minute, MINUTE);
  if (!minutes.ok) return minutes;
  const hours = parseValues(hour, HOUR);
  if (!hours.ok) return hours;
  const days = parseDays(day);
  if (!days.ok) return days;
  const months = parseValues(month, MONTH);
  if (!months.ok) return months;
  const weekdays = parseWeekdays(weekday);
  if (!weekdays.ok) return weekdays;
  return accepted({
    seconds: seconds.value,
    minutes: minutes.value,
    hours: hours.value,
    days: days.value,
    months: months.value,
    weekdays: weekdays.value,
    ...(zone && { zone }),
  });
}

/**
 * Goes through the times between two changes of the offset: inside them the wall clock and the exact
 * time run alike, and what the zone skips lies in none of them. Where every match of an era falls
 * into what it skips, so do all later ones: zones change their rules for some years ahead at most.
 */
function matchInZone(cron: Cron, zone: TimeZone, fromMs: number): number | undefined {
  const runsThrough = cron.hours.length === 24;
  const last = Math.min(LAST_INSTANT, fromMs + ERA_AND_MORE_MS);
  for (let from = fromMs; from <= last; ) {
    const { offsetMs, until, repeatsUntilWall } = stretchAt(zone, from);
    const wallFrom = runsThrough
      ? from + offsetMs
      : Math.max(from + offsetMs, repeatsUntilWall ?? Number.NEGATIVE_INFINITY);
    const wall = wallMatch(cron, wallFrom);
    if (wall === undefined) return undefined;
    const found = wall - offsetMs;
    if (found < until) return found;
    // Nothing matches up to shortly before there, by any offset; but no repeated hour is passed over.
    from = until - from > LONGEST_SHIFT_MS ? Math.max(until, found - LONGEST_SHIFT_MS) : until;
  }
  return undefined;
}

/** How long the offset of a zone stays, and up to which wall time it repeats what was before. */
type Stretch = Readonly<{ offsetMs: number; until: number; repeatsUntilWall?: number }>;

function stretchAt(zone: TimeZone, at: number): Stretch {
  const here = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
  const offsetMs = here.offsetNanoseconds / 1_000_000;
  const until = here.getTimeZoneTransition("next")?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
  // One millisecond later, because the change itself belongs to this stretch.
  const begin = here.add({ milliseconds: 1 }).getTimeZoneTransition("previous");
  if (begin === null) return { offsetMs, until };
  const before = begin.subtract({ milliseconds: 1 }).offsetNanoseconds / 1_000_000;
  return { offsetMs, until, repeatsUntilWall: begin.epochMilliseconds + before };
}

/** More than two offsets of one zone ever differ. */
const LONGEST_SHIFT_MS = 26 * 3_600_000;

/** The first match at or after this wall time, both as if they were in UTC. */
function wallMatch(cron: Cron, fromMs: number): number | undefined {
  const day = Math.floor(fromMs / MS_PER_DAY);
  const first = dayFrom(cron, day, MONTHS_PER_ERA);
  if (first === undefined) return undefined;
  const time = first === day ? timeFrom(cron, fromMs - day * MS_PER_DAY) : timeFrom(cron, 0);
  if (time !== undefined) return first * MS_PER_DAY + time;
  const next = dayFrom(cron, first + 1, MONTHS_PER_ERA);
  return next === undefined ? undefined : next * MS_PER_DAY + (timeFrom(cron, 0) ?? 0);
}

/** The first day at or after this one, within so many months. */
function dayFrom(cron: Cron, from: number, months: number): number | undefined {
  const { day, ...begin } = dateFromDays(from);
  for (let n = 0; n <= months; n++) {
    const month = monthAfter(begin, n);
    if (!cron.months.includes(month.month)) continue;
    const found = matchingDays(month, cron).find((it) => n > 0 || it >= day);
    if (found !== undefined) return daysFromDate({ ...month, day: found } satisfies CalendarDate);
  }
  return undefined;
}

function monthAfter({ year, month }: Month, n: number): Month {
  const count = year * 12 + month - 1 + n;
  return { year: Math.floor(count / 12), month: (((count % 12) + 12) % 12) + 1 };
}

/** The first time of day at or after this one, in milliseconds. */
function timeFrom({ hours, minutes, seconds }: Cron, fromMs: number): number | undefined {
  const from = Math.ceil(fromMs / 1_000);
  const hour = Math.floor(from / 3_600);
  const minute = Math.floor(from / 60) % 60;
  const second = from % 60;
  const [firstMinute = 0] = minutes;
  const [firstSecond = 0] = seconds;
  if (hours.includes(hour)) {
    const nextSecond = minutes.includes(minute) ? seconds.find((it) => it >= second) : undefined;
    if (nextSecond !== undefined) return timeOf(hour, minute, nextSecond);
    const nextMinute = minutes.find((it) => it > minute);
    if (nextMinute !== undefined) return timeOf(hour, nextMinute, firstSecond);
  }
  const nextHour = hours.find((it) => it > hour);
  return nextHour === undefined ? undefined : timeOf(nextHour, firstMinute, firstSecond);
}

const timeOf = (hour: number, minute: number, second: number): number =>
  ((hour * 60 + minute) * 60 + second) * 1_000;

const MS_PER_DAY = 86_400_000;
const MONTHS_PER_ERA = 4_800;
const ERA_AND_MORE_MS = 500 * 366 * MS_PER_DAY;

const MACROS: ReadonlyMap<string, string> = new Map([
  ["@YEARLY", "0 0 0 1 1 *"],
  ["@ANNUALLY", "0 0 0 1 1 *"],
  ["@MONTHLY", "0 0 0 1 * *"],
  ["@WEEKLY", "0 0 0 * * 0"],
  ["@DAILY", "0 0 0 * * *"],
  ["@MIDNIGHT", "0 0 0 * * *"],
  ["@HOURLY", "0 0 * * * *"],
]);

/** What EventBridge calls a schedule: other fields, other weekdays, and no seconds. */
const AWS_FORM = /^(rate|cron|at)\s*\(/i;
const AWS_HINT =
  "Write a repeating interval such as R/PT5M, or cron of six fields such as 0 0 18 * * MON-FRI, where Monday is 1.";

function wrongCount(text: string, fields: readonly string[]): [string, string] {
  const counted = `The cron expression ${quoted(text)} has ${fields.length} fields, not six.`;
  if (fields.length === 5) return [counted, `Seconds come first: 0 ${fields.join(" ")}.`];
  if (fields.length === 7) return [counted, `Leave out the year: ${fields.slice(0, 6).join(" ")}.`];
  return [counted, "Write second minute hour day-of-month month day-of-week: 0 0 9 * * MON-FRI."];
}
