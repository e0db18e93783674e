// Which days of a month a cron expression means. Sunday is 0 here, whatever the text calls it.

import { daysFromDate, daysInMonth } from "./calendar.ts";

/** A month of a year. */
export type Month = Readonly<{ year: number; month: number }>;

/** One entry of the list in the day-of-month field. */
export type DayOfMonth = Readonly<
  | { on: "days"; days: ReadonlySet<number> }
  /** The last day, or so many days before it. */
  | { on: "last"; before: number }
  /** The working day, Monday to Friday, that is nearest to this day in the same month. */
  | { on: "nearest-workday"; day: number }
  | { on: "last-workday" }
>;

/** One entry of the list in the day-of-week field. */
export type DayOfWeek = Readonly<
  | { on: "weekdays"; weekdays: ReadonlySet<number> }
  | { on: "nth"; weekday: number; nth: number }
  | { on: "last-of"; weekday: number }
>;

/** The days of a month that both fields mean, in order; an empty list of a field means every day. */
export function matchingDays(
  month: Month,
  { days, weekdays }: Readonly<{ days: readonly DayOfMonth[]; weekdays: readonly DayOfWeek[] }>,
): readonly number[] {
  const length = daysInMonth(month);
  const all = Array.from({ length }, (_, position) => position + 1);
  return all.filter((day) => {
    const isDay = days.length === 0 || days.some((rule) => isDayOf(rule, day, month));
    return isDay && (weekdays.length === 0 || weekdays.some((it) => isWeekdayOf(it, day, month)));
  });
}

function isDayOf(rule: DayOfMonth, day: number, month: Month): boolean {
  switch (rule.on) {
    case "days":
      return rule.days.has(day);
    case "last":
      return day === daysInMonth(month) - rule.before;
    case "nearest-workday":
      return day === nearestWorkday(rule.day, month);
    case "last-workday":
      return day === nearestWorkday(daysInMonth(month), month);
  }
}

function isWeekdayOf(rule: DayOfWeek, day: number, month: Month): boolean {
  const weekday = weekdayOf(day, month);
  switch (rule.on) {
    case "weekdays":
      return rule.weekdays.has(weekday);
    case "nth":
      return weekday === rule.weekday && Math.ceil(day / 7) === rule.nth;
    case "last-of":
      return weekday === rule.weekday && day + 7 > daysInMonth(month);
  }
}

/** Never in another month: the first on a Saturday is moved on to Monday. */
function nearestWorkday(day: number, month: Month): number | undefined {
  const last = daysInMonth(month);
  if (day > last) return undefined;
  const weekday = weekdayOf(day, month);
  if (weekday === SATURDAY) return day === 1 ? day + 2 : day - 1;
  if (weekday === SUNDAY) return day === last ? day - 2 : day + 1;
  return day;
}

/** 1970-01-01 was a Thursday. */
function weekdayOf(day: number, month: Month): number {
  return (((daysFromDate({ ...month, day }) + 4) % 7) + 7) % 7;
}

const SUNDAY = 0;
const SATURDAY = 6;
