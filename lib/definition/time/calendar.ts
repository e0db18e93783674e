// The proleptic Gregorian calendar on whole numbers, so that UTC needs no library.
// Days are counted from 1970-01-01. Inside, a year begins in March: the leap day then comes last.

/** A day of the calendar: month 1 to 12, day 1 to 31. */
export type CalendarDate = Readonly<{ year: number; month: number; day: number }>;

/** The number of days from 1970-01-01 to this date; the date must exist. */
export function daysFromDate({ year, month, day }: CalendarDate): number {
  const marchYear = month > 2 ? year : year - 1;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const leapDays = Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100);
  return era * DAYS_PER_ERA + yearOfEra * 365 + leapDays + dayOfYear - EPOCH_DAY;
}

/** The date that many days after 1970-01-01. */
export function dateFromDays(days: number): CalendarDate {
  const shifted = days + EPOCH_DAY;
  const era = Math.floor(shifted / DAYS_PER_ERA);
  const dayOfEra = shifted - era * DAYS_PER_ERA;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  return {
    year: era * 400 + yearOfEra + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1,
  };
}

/** The same day of a later or earlier month, or that month's last day where it is shorter. */
export function addMonths({ year, month, day }: CalendarDate, months: number): CalendarDate {
  const monthCount = year * 12 + (month - 1) + months;
  const landed = { year: Math.floor(monthCount / 12), month: (((monthCount % 12) + 12) % 12) + 1 };
  return { ...landed, day: Math.min(day, daysInMonth(landed)) };
}

/** How many days this month of this year has. */
export function daysInMonth({ year, month }: Readonly<{ year: number; month: number }>): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** 400 years: the calendar repeats after these. */
const DAYS_PER_ERA = 146_097;
/** 1970-01-01, counted from 0000-03-01. */
const EPOCH_DAY = 719_468;
