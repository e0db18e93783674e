// Durations: a length of calendar time and a length of exact time.
// 1. Months, days and milliseconds are kept apart: how long a month or a day is depends on where
//    it is added. Years are twelve months and weeks seven days everywhere, so these are not kept.
// 2. They are added in this order: months (a day that the month lacks becomes its last), days,
//    exact time. Months and days move the clock on the wall of the zone; exact time does not.
// 3. Where daylight saving time (DST) begins or ends: a wall time that the zone skips is moved on by
//    the gap; of a repeated one the first is taken.
// 4. What is finer than a millisecond is rounded up: nothing is ever early.

import { Temporal } from "temporal-polyfill";
import { MAX_DURATION_YEARS } from "../limits.ts";
import { accepted, type Parsed, quoted, refused } from "../parsed.ts";
import { addMonths, dateFromDays, daysFromDate } from "./calendar.ts";
import { whyNoDuration } from "./duration-hint.ts";
import { type Instant, instantFrom } from "./instant.ts";
import { isUtc, type TimeZone } from "./time-zone.ts";

/** A length of time; each part has its own sign, and the text P1DT-1H means what it says. */
export type Duration = Readonly<{ months: number; days: number; timeMs: number }>;

/** Reads an ISO 8601 duration, such as PT15M or P1Y2M3DT4H; fractions only of seconds. */
export function parseDuration(text: string): Parsed<Duration> {
  const match = DURATION.exec(text);
  if (match === null || match[0].endsWith("T") || match[0].length <= (match[1]?.length ?? 0) + 1) {
    return refused(`${quoted(text)} is not a duration.`, whyNoDuration(text));
  }
  const sign = match[1] === "-" ? -1 : 1;
  const years = sign * whole(match[2]);
  const months = sign * whole(match[3]);
  const weeks = sign * whole(match[4]);
  const days = sign * whole(match[5]);
  const hours = sign * whole(match[6]);
  const minutes = sign * whole(match[7]);
  const seconds = secondsAsMs(sign, match[8], match[9]);
  // Summed part by part, so that huge parts of opposite sign cannot cancel out inexactly.
  const longest =
    Math.abs(years) * MS_PER_YEAR +
    Math.abs(months) * (MS_PER_YEAR / 12) +
    Math.abs(weeks) * (7 * MS_PER_DAY) +
    Math.abs(days) * MS_PER_DAY +
    Math.abs(hours) * MS_PER_HOUR +
    Math.abs(minutes) * MS_PER_MINUTE +
    Math.abs(seconds);
  if (longest > MAX_DURATION_YEARS * MS_PER_YEAR) {
    return refused(
      `${quoted(text)} is too long a duration.`,
      `The longest is ${MAX_DURATION_YEARS} years, P${MAX_DURATION_YEARS}Y.`,
    );
  }
  // Adding 0 turns -0 into 0, the only zero that JSON keeps.
  return accepted({
    months: years * 12 + months + 0,
    days: weeks * 7 + days + 0,
    timeMs: hours * MS_PER_HOUR + minutes * MS_PER_MINUTE + seconds + 0,
  });
}

/** The instant a duration later, by the calendar of the zone, UTC where none is given. */
export function addDuration(instant: Instant, duration: Duration, zone?: TimeZone): Instant {
  const { months, days, timeMs } = duration;
  if (months === 0 && days === 0) return instantFrom(instant + timeMs);
  const onCalendar =
    zone === undefined || isUtc(zone)
      ? addInUtc(instant, months, days)
      : addInZone(instant, { months, days }, zone);
  return instantFrom(onCalendar + timeMs);
}

/** The shortest ISO 8601 text of a duration: months as years and months, weeks as days. */
export function formatDuration({ months, days, timeMs }: Duration): string {
  if (months === 0 && days === 0 && timeMs === 0) return "PT0S";
  if (months <= 0 && days <= 0 && timeMs <= 0) {
    return `-${formatDuration({ months: -months, days: -days, timeMs: -timeMs })}`;
  }
  const date = part(Math.trunc(months / 12), "Y") + part(months % 12, "M") + part(days, "D");
  const time =
    part(Math.trunc(timeMs / MS_PER_HOUR), "H") +
    part(Math.trunc(timeMs / MS_PER_MINUTE) % 60, "M") +
    part((timeMs % MS_PER_MINUTE) / 1_000, "S");
  return `P${date}${time === "" ? "" : `T${time}`}`;
}

const MS_PER_MINUTE = 60_000;
const MS_PER_HOUR = 3_600_000;
const MS_PER_DAY = 86_400_000;
const MS_PER_YEAR = 365.25 * MS_PER_DAY;

// Groups: 1 sign, 2 years, 3 months, 4 weeks, 5 days, 6 hours, 7 minutes, 8 seconds, 9 fraction.
// The T is upper case, as in java.time, which BPMN files are written for; the rest may be lower.
const DURATION =
  /^([+-])?[Pp](?:([+-]?\d+)[Yy])?(?:([+-]?\d+)[Mm])?(?:([+-]?\d+)[Ww])?(?:([+-]?\d+)[Dd])?(?:T(?:([+-]?\d+)[Hh])?(?:([+-]?\d+)[Mm])?(?:([+-]?\d+)(?:[.,](\d{1,9}))?[Ss])?)?$/;

function whole(digits: string | undefined): number {
  return digits === undefined ? 0 : Number(digits);
}

/** Seconds and their fraction, with the sign of both, in whole milliseconds rounded up. */
function secondsAsMs(sign: number, seconds: string | undefined, fraction: string | undefined) {
  if (seconds === undefined) return 0;
  if (fraction === undefined) return sign * Number(seconds) * 1_000;
  const direction = seconds.startsWith("-") ? -sign : sign;
  const nanoseconds = Number(fraction.padEnd(9, "0"));
  return sign * Number(seconds) * 1_000 + Math.ceil((direction * nanoseconds) / 1_000_000);
}

function addInUtc(instant: Instant, months: number, days: number): number {
  if (months === 0) return instant + days * MS_PER_DAY;
  const dayCount = Math.floor(instant / MS_PER_DAY);
  const landed = daysFromDate(addMonths(dateFromDays(dayCount), months));
  return instant + (landed - dayCount + days) * MS_PER_DAY;
}

function addInZone(
  instant: Instant,
  { months, days }: Pick<Duration, "months" | "days">,
  zone: TimeZone,
): number {
  // Months and days are added on the wall and only their sum is looked up in the zone: a gap that
  // lies half way does not bend the rest of the way.
  return Temporal.Instant.fromEpochMilliseconds(instant)
    .toZonedDateTimeISO(zone)
    .toPlainDateTime()
    .add({ months })
    .add({ days })
    .toZonedDateTime(zone, { disambiguation: "compatible" }).epochMilliseconds;
}

function part(value: number, unit: string): string {
  return value === 0 ? "" : `${value}${unit}`;
}
