/**
 * A duration as an author writes it: ISO 8601 (`PT15M`, `P2D`), short (`2d`, `1.5s`, `1h 30m`) or in
 * words (`2 days`, `1 hour 30 minutes`).
 */
export type DurationText = string;

/** The ISO text of a duration; throws when it is none, or negative. */
export function isoDuration(text: DurationText, what: string): string {
  if (typeof text !== "string") throw new TypeError(`${what}: ${FORM}`);
  const trimmed = text.trim();
  if (trimmed.includes("-")) throw new RangeError(`${what}: ${quoted(text)} is negative.`);
  const iso = SHORT.test(trimmed) ? longOf(trimmed) : trimmed.toUpperCase();
  if (!ISO.test(iso) || /^P$|T$/.test(iso)) {
    throw new RangeError(`${what}: ${quoted(text)} is not a duration. ${FORM}`);
  }
  if (isTooLong(iso)) throw new RangeError(`${what}: ${quoted(text)} is longer than 100 years.`);
  return iso;
}

/** The engine's own limit of durations; a year counts 365.25 days. */
function isTooLong(iso: string): boolean {
  const [, ...amounts] = ISO.exec(iso) ?? [];
  const seconds = amounts.map(
    (amount = "0", at) => Number(amount.replace(",", ".")) * (UNITS[at] ?? 0),
  );
  return seconds.reduce((sum, part) => sum + part, 0) > 100 * YEAR;
}

const FORM = 'Write a duration with its unit, such as "30s", "1.5h", "2d" or "PT15M".';

const NAMES = "ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?";
const AMOUNT = `(\\d+(?:\\.\\d+)?)\\s*(${NAMES})(?![a-z])`;
const SHORT = new RegExp(`^(?:${AMOUNT}\\s*)+$`);
const ISO =
  /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d{1,9})?)S)?)?$/;
const YEAR = 31_557_600;
/** Seconds of each part of an ISO duration. */
const UNITS: readonly number[] = [YEAR, YEAR / 12, 604_800, 86_400, 3_600, 60, 1];

/** Whole days and weeks are days of the calendar, everything else is exact time. */
function longOf(text: string): string {
  let days = 0;
  let seconds = 0;
  for (const [, amount = "", name = ""] of text.matchAll(new RegExp(AMOUNT, "g"))) {
    const inUnit = Number(amount);
    const unit = name === "ms" || name.startsWith("milli") ? "ms" : name.slice(0, 1);
    if ((unit === "d" || unit === "w") && Number.isInteger(inUnit)) {
      days += unit === "w" ? inUnit * 7 : inUnit;
    } else {
      seconds += inUnit * (SECONDS[unit] ?? 0);
    }
  }
  const rounded = Math.ceil(Number((seconds * 1_000).toFixed(3))) / 1_000;
  return `P${days === 0 ? "" : `${days}D`}${days > 0 && rounded === 0 ? "" : `T${rounded}S`}`;
}

const SECONDS: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
};

const quoted = (text: string): string => JSON.stringify(text.slice(0, 60));
