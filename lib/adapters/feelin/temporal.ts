import { duration, FeelDateTime, FeelDuration, parseDate, parseDateTime } from "feelin";
import type { Temporal } from "./values.ts";

/** The ISO text of a temporal value outside FEEL. */
export function isoText(value: Temporal): string {
  const [local, region] = value.iso.split("@");
  if (region === undefined || !(value instanceof FeelDateTime)) return value.iso;
  // FEEL writes 10:00@Europe/Berlin; ISO readers need the offset, and the zone in brackets.
  return `${local}${offsetText(value)}[${region}]`;
}

/**
 * Reads a date and time in FEEL's format, or with offset and bracketed zone as `isoText` writes it.
 */
export function readDateTime(text: string): FeelDateTime | null {
  const [, local, offset, region] = /^([^[]+?)(Z|[+-]\d\d:\d\d)\[([^\]]+)\]$/.exec(text) ?? [];
  if (local === undefined || offset === undefined || region === undefined) {
    return text.includes("[") ? null : parseDateTime(text);
  }
  const zoned = parseDateTime(`${local}@${region}`);
  if (zoned === null) return null;
  // If the two disagree, or the clock shows an hour twice, the offset determines the instant.
  const agrees = offsetText(zoned) === (offset === "Z" ? "+00:00" : offset);
  return agrees ? zoned : parseDateTime(local + offset);
}

/** The moment of evaluation, in UTC. */
export function dateTimeAt(now: number): FeelDateTime | null {
  return parseDateTime(new Date(now).toISOString());
}

/** The day of evaluation, in UTC. */
export function dateAt(now: number): Temporal | null {
  return parseDate(new Date(now).toISOString().slice(0, 10));
}

/** The last day of a value's month. */
export function lastDayOfMonth({ year, month }: Readonly<{ year: number; month: number }>) {
  const day = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
  const two = (n: number) => String(n).padStart(2, "0");
  return parseDate(`${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`);
}

/** The whole months from one day to another, forward or back; a month is whole at the same day. */
export function monthsBetween(from: Day, to: Day): FeelDuration | null {
  const months = (to.year - from.year) * 12 + to.month - from.month;
  const days = to.day - from.day;
  const begun = (months > 0 && days < 0 ? 1 : 0) - (months < 0 && days > 0 ? 1 : 0);
  return ofMonths(months - begun);
}

type Day = Readonly<{ year: number; month: number; day: number }>;

/** A multiple of a duration; null if months would have to be split. */
export function scale(value: FeelDuration, factor: number): FeelDuration | null {
  const amount = Math.trunc(amountOf(value) * factor);
  if (!Number.isSafeInteger(amount)) return null;
  if (!value.yearsMonths) return duration(amount);
  return ofMonths(amount);
}

const ofMonths = (months: number): FeelDuration | null =>
  duration(`${months < 0 ? "-" : ""}P${Math.abs(months)}M`);

/** How often one duration fits into another of its kind. */
export function ratio(dividend: FeelDuration, divisor: FeelDuration): number | null {
  if (dividend.yearsMonths !== divisor.yearsMonths || amountOf(divisor) === 0) return null;
  return amountOf(dividend) / amountOf(divisor);
}

/** Months, or milliseconds, whichever the duration is made of. */
function amountOf(value: FeelDuration): number {
  const parts = value.unwrap();
  if (value.yearsMonths) return parts.years * 12 + parts.months;
  return parts.total({ unit: "millisecond" });
}

function offsetText(value: FeelDateTime): string {
  const offset: unknown = value["time offset"];
  const minutes = offset instanceof FeelDuration ? Math.round(amountOf(offset) / 60_000) : 0;
  const two = (n: number) => String(Math.trunc(n)).padStart(2, "0");
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${two(size / 60)}:${two(size % 60)}`;
}
