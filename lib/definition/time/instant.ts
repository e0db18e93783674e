// Instants and their texts.
// 1. An instant is a whole number of milliseconds since 1970-01-01T00:00:00Z.
// 2. What is finer than a millisecond is rounded up: nothing is ever early.
// 3. All instants lie in the years 0000 to 9999 of UTC, which four digits can write.

import { accepted, type Parsed, quoted, refused } from "../parsed.ts";
import { dateFromDays, daysFromDate, daysInMonth } from "./calendar.ts";
import { parseTimeZone, type TimeZone } from "./time-zone.ts";

/** A type that only its own parser or maker can produce, though it is plain data at run time. */
export type Branded<T, Name extends string> = T & { readonly __brand: Name };

/** A point in time: whole milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = Branded<number, "Instant">;

/** An instant, and the zone whose calendar its author had in mind. */
export type ZonedInstant = Readonly<{ at: Instant; zone?: TimeZone }>;

/** Whether a number is an instant: whole, and within the years that can be written. */
export function isInstant(epochMs: number): epochMs is Instant {
  return Number.isInteger(epochMs) && epochMs >= FIRST_MS && epochMs <= LAST_MS;
}

/**
 * The instant of these milliseconds: fractions are rounded up, and what lies beyond the first or
 * the last instant becomes that one, since no clock of ours gets there.
 */
export function instantFrom(epochMs: number): Instant {
  // Adding 0 turns a rounded -0 into 0, the only zero that JSON keeps.
  const nearest = Math.min(Math.max(Math.ceil(epochMs), FIRST_MS), LAST_MS) + 0;
  if (isInstant(nearest)) return nearest;
  throw new RangeError(`${epochMs} is not a number of milliseconds. Pass a finite number.`);
}

/** Always `2024-01-31T10:00:00.000Z`, 24 characters: the order of the texts is that of time. */
export function formatInstant(instant: Instant): string {
  const days = Math.floor(instant / MS_PER_DAY);
  const msOfDay = instant - days * MS_PER_DAY;
  const { year, month, day } = dateFromDays(days);
  const hours = Math.floor(msOfDay / 3_600_000);
  const minutes = Math.floor(msOfDay / 60_000) % 60;
  const seconds = Math.floor(msOfDay / 1_000) % 60;
  return `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}T${digits(hours, 2)}:${digits(minutes, 2)}:${digits(seconds, 2)}.${digits(msOfDay % 1_000, 3)}Z`;
}

/** Reads an ISO 8601 date and time with an offset; a bracketed zone is checked and dropped. */
export function parseInstant(text: string): Parsed<Instant> {
  const zoned = parseZonedInstant(text);
  return zoned.ok ? accepted(zoned.value.at) : zoned;
}

/**
 * Reads an ISO 8601 date and time with an offset, and the zone in brackets that may follow.
 * Where the two disagree the offset says which instant it is; the zone is for later days.
 */
export function parseZonedInstant(text: string): Parsed<ZonedInstant> {
  const match = ZONED.exec(text);
  if (match === null) return refused(`${quoted(text)} is not a date and time.`, missing(text));
  const at = instantOf(text, match, MAX_OFFSET_MINUTES);
  if (!at.ok || match[11] === undefined) return at.ok ? accepted({ at: at.value }) : at;
  const zone = parseTimeZone(match[11]);
  return zone.ok ? accepted({ at: at.value, zone: zone.value }) : zone;
}

/** Reads the timestamp of RFC 3339, strictly: seconds are required, a bracketed zone is refused. */
export function parseRfc3339Instant(text: string): Parsed<Instant> {
  const match = RFC_3339.exec(text);
  if (match !== null) return instantOf(text, match, MAX_RFC_OFFSET_MINUTES);
  return refused(
    `${quoted(text)} is not an RFC 3339 timestamp.`,
    "Write date, time with seconds, and Z or an offset, for example 2024-01-31T10:00:00Z or 2024-01-31T12:00:00+02:00.",
  );
}

const MS_PER_DAY = 86_400_000;
/** 0000-01-01T00:00:00.000Z */
const FIRST_MS = -62_167_219_200_000;
/** 9999-12-31T23:59:59.999Z */
const LAST_MS = 253_402_300_799_999;
/** ISO 8601 as java.time reads it, which BPMN files are written for. */
const MAX_OFFSET_MINUTES = 18 * 60;
/** RFC 3339 lets the hour of an offset go up to 23. */
const MAX_RFC_OFFSET_MINUTES = 24 * 60 - 1;

/** The last instant there is; sums that would pass it stay here. */
export const LAST_INSTANT: Instant = instantFrom(LAST_MS);

// Groups: 1 year, 2 month, 3 day, 4 hour, 5 minute, 6 second, 7 fraction, 8 sign, 9 and 10 offset.
const ZONED =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:[Zz]|([+-])(\d\d)(?::(\d\d))?)(?:\[([^[\]]+)\])?$/;
const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

function instantOf(text: string, match: RegExpExecArray, maxOffset: number): Parsed<Instant> {
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth({ year, month })) {
    return refused(`${quoted(text)} names a day that does not exist.`, "Check month and day.");
  }
  const [hour, minute, second] = [Number(match[4]), Number(match[5]), Number(match[6] ?? 0)];
  if (hour > 23 || minute > 59 || second > 59) {
    return refused(
      `${quoted(text)} names a time of day that does not exist.`,
      "Hours go from 00 to 23, minutes and seconds from 00 to 59; midnight is 00:00:00 of the next day, and leap seconds have no place here.",
    );
  }
  const [offsetHour, offsetMinute] = [Number(match[9] ?? 0), Number(match[10] ?? 0)];
  if (offsetMinute > 59 || offsetHour * 60 + offsetMinute > maxOffset) {
    return refused(
      `The offset of ${quoted(text)} does not exist.`,
      `Offsets go up to ±${digits(Math.floor(maxOffset / 60), 2)}:${digits(maxOffset % 60, 2)}.`,
    );
  }
  const offset = (match[8] === "-" ? -1 : 1) * (offsetHour * 60 + offsetMinute);
  const minutes = daysFromDate({ year, month, day }) * 1_440 + hour * 60 + minute - offset;
  const epochMs = minutes * 60_000 + second * 1_000 + fractionMs(match[7]);
  if (isInstant(epochMs)) return accepted(epochMs);
  return refused(
    `${quoted(text)} lies outside the years 0000 to 9999 of UTC.`,
    "Write a date within these years.",
  );
}

/** Milliseconds of a decimal fraction of a second, rounded up. */
function fractionMs(fraction: string | undefined): number {
  if (fraction === undefined) return 0;
  const finer = /[1-9]/.test(fraction.slice(3)) ? 1 : 0;
  return Number(fraction.slice(0, 3).padEnd(3, "0")) + finer;
}

function missing(text: string): string {
  const example = "for example 2024-01-31T10:00:00Z or 2024-01-31T12:00:00+02:00";
  if (text !== text.trim()) return "Remove the blanks around it.";
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return `Add the time and Z or an offset, ${example}.`;
  if (/^\d{4}-\d\d-\d\d[Tt][\d:.]+(\[.*\])?$/.test(text)) {
    if (/\.\d{10}/.test(text)) return "A fraction of a second has one to nine digits.";
    return `Add Z or an offset after the time, ${example}: without one it is no definite instant.`;
  }
  if (/[+-]\d{4}$/.test(text)) return `Write the offset with a colon, ${example}.`;
  if (/\.\d{10}/.test(text)) return "A fraction of a second has one to nine digits.";
  if (/,\d/.test(text)) return `Write the fraction of a second with a point, ${example}.`;
  return `Write date, T, time, and Z or an offset, ${example}.`;
}

function digits(value: number, width: number): string {
  return String(value).padStart(width, "0");
}
