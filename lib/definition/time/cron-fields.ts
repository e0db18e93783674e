// The six fields of a cron expression: second, minute, hour, day of month, month, day of week.
// Lists of values, ranges and steps everywhere; the two day fields allow more, see below.

import { accepted, type Parsed, quoted, refused } from "../parsed.ts";
import type { DayOfMonth, DayOfWeek } from "./cron-days.ts";

/** What a field is called, its values, and the names that may stand for them. */
type Field = Readonly<{ called: string; min: number; max: number; names?: readonly string[] }>;

const MONTH_NAMES = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");
const DAY_NAMES = "SUN MON TUE WED THU FRI SAT".split(" ");

export const SECOND: Field = { called: "second", min: 0, max: 59 };
export const MINUTE: Field = { called: "minute", min: 0, max: 59 };
export const HOUR: Field = { called: "hour", min: 0, max: 23 };
const DAY: Field = { called: "day of month", min: 1, max: 31 };
export const MONTH: Field = { called: "month", min: 1, max: 12, names: MONTH_NAMES };
/** Both 0 and 7 are Sunday. */
const WEEKDAY: Field = { called: "day of week", min: 0, max: 7, names: DAY_NAMES };

/** Reads a field of plain values: each of them once, in order. */
export function parseValues(text: string, field: Field): Parsed<readonly number[]> {
  const entries = parseEach(text, (entry) => parseEntry(entry, field));
  if (!entries.ok) return entries;
  return accepted([...new Set(entries.value.flat())].sort((a, b) => a - b));
}

/** Reads the day of month: also L, L-3, 15W and LW. Empty where every day is meant. */
export function parseDays(text: string): Parsed<readonly DayOfMonth[]> {
  return isEvery(text) ? accepted([]) : parseEach(text, parseDay);
}

function parseDay(text: string): Parsed<DayOfMonth> {
  if (text === "L") return accepted({ on: "last", before: 0 });
  if (text === "LW") return accepted({ on: "last-workday" });
  const before = /^L-(\d{1,2})$/.exec(text)?.[1];
  if (before !== undefined) return parseBefore(text, Number(before));
  const nearest = /^(\d{1,2})W$/.exec(text)?.[1];
  if (nearest !== undefined) {
    const day = Number(nearest);
    return isIn(day, DAY) ? accepted({ on: "nearest-workday", day }) : outside(nearest, DAY);
  }
  if (/[LW]/.test(text)) return refused(notUnderstood(text, DAY), DAY_FORMS);
  const days = parseEntry(text, DAY);
  return days.ok ? accepted({ on: "days", days: new Set(days.value) }) : days;
}

function parseBefore(text: string, before: number): Parsed<DayOfMonth> {
  if (before >= 1 && before <= MAX_BEFORE_LAST) return accepted({ on: "last", before });
  return refused(notUnderstood(text, DAY), `Write L-1 to L-${MAX_BEFORE_LAST}.`);
}

const MAX_BEFORE_LAST = 30;
const DAY_FORMS =
  "Write a day, L for the last, L-3 for three days before it, 15W for the nearest working day, or LW for the last working day.";

/** Reads the day of week: also MON#1 and FRIL. Empty where every day is meant. */
export function parseWeekdays(text: string): Parsed<readonly DayOfWeek[]> {
  return isEvery(text) ? accepted([]) : parseEach(text, parseWeekday);
}

function parseWeekday(text: string): Parsed<DayOfWeek> {
  const nth = /^(\w+)#(\d+)$/.exec(text);
  if (nth !== null) {
    const weekday = parseValue(nth[1] ?? "", WEEKDAY);
    if (!weekday.ok) return weekday;
    const which = Number(nth[2]);
    if (which >= 1 && which <= 5) {
      return accepted({ on: "nth", weekday: weekday.value % 7, nth: which });
    }
    return refused(notUnderstood(text, WEEKDAY), "A month has the first to the fifth: MON#1.");
  }
  if (text === "L") return refused(notUnderstood(text, WEEKDAY), "Say which day: FRIL or 5L.");
  const last = /^(\d|[A-Z]{3})L$/.exec(text)?.[1];
  if (last !== undefined) {
    const weekday = parseValue(last, WEEKDAY);
    return weekday.ok ? accepted({ on: "last-of", weekday: weekday.value % 7 }) : weekday;
  }
  const weekdays = parseEntry(text, WEEKDAY);
  if (!weekdays.ok) return weekdays;
  return accepted({ on: "weekdays", weekdays: new Set(weekdays.value.map((day) => day % 7)) });
}

/** In a day field `?` leaves it to the other one. */
const isEvery = (text: string): boolean => text === "*" || text === "?";

function parseEach<T>(text: string, parse: (entry: string) => Parsed<T>): Parsed<readonly T[]> {
  const found: T[] = [];
  for (const entry of text.split(",")) {
    const parsed = parse(entry);
    if (!parsed.ok) return parsed;
    found.push(parsed.value);
  }
  return accepted(found);
}

/** One entry of a list: every value, one, a range, and each of them in steps. */
function parseEntry(text: string, field: Field): Parsed<readonly number[]> {
  const match = /^(\*|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(text);
  if (match === null) return refused(notUnderstood(text, field), FORMS);
  const step = parseStep(text, match[4], field);
  if (!step.ok) return step;
  if (match[1] === "*") return accepted(valuesFrom(field.min, field.max, step.value));
  const first = parseValue(match[2] ?? "", field);
  if (!first.ok) return first;
  const isSingle = match[3] === undefined;
  // A single value with a step goes on to the end: 5/15 is 5, 20, 35, 50.
  const end = match[4] === undefined ? first : accepted(field.max);
  const last = isSingle ? end : parseValue(match[3] ?? "", field);
  if (!last.ok) return last;
  return parseRange(text, { first: first.value, last: last.value, step: step.value }, field);
}

function parseRange(
  text: string,
  { first, last, step }: Readonly<{ first: number; last: number; step: number }>,
  field: Field,
): Parsed<readonly number[]> {
  if (first <= last) return accepted(valuesFrom(first, last, step));
  if (field === WEEKDAY) return accepted(valuesFrom(first, last + 7, step));
  return refused(
    `The range ${quoted(text)} of the field ${field.called} goes backwards.`,
    `Write it as two: ${first}-${field.max},${field.min}-${last}.`,
  );
}

function parseStep(text: string, digits: string | undefined, field: Field): Parsed<number> {
  if (digits === undefined) return accepted(1);
  const step = Number(digits);
  const longest = field.max - field.min + 1;
  if (step >= 1 && step <= longest) return accepted(step);
  return refused(
    `The step in ${quoted(text)} of the field ${field.called} is too ${step < 1 ? "small" : "large"}.`,
    `Write a step of 1 to ${longest}.`,
  );
}

function parseValue(text: string, field: Field): Parsed<number> {
  const named = field.names?.indexOf(text) ?? -1;
  if (named >= 0) return accepted(named + field.min);
  if (!/^\d{1,2}$/.test(text)) return refused(notUnderstood(text, field), formsOf(field));
  const value = Number(text);
  return isIn(value, field) ? accepted(value) : outside(text, field);
}

function valuesFrom(first: number, last: number, step: number): readonly number[] {
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, n) => first + n * step);
}

const isIn = (value: number, { min, max }: Field): boolean => value >= min && value <= max;

function outside<T>(text: string, { called, min, max }: Field): Parsed<T> {
  return refused(
    `${quoted(text)} is outside the field ${called}.`,
    `Write a value from ${min} to ${max}.`,
  );
}

const notUnderstood = (text: string, { called }: Field): string =>
  `${quoted(text)} is not understood in the field ${called}.`;

const FORMS = "Write *, a value, a range such as 9-17, a step such as */10, or a list of these.";

function formsOf({ min, max, names }: Field): string {
  const numbers = `Write a value from ${min} to ${max}`;
  return names ? `${numbers}, or a name such as ${names[1]}.` : `${numbers}.`;
}
