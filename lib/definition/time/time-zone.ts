import { Temporal } from "temporal-polyfill";
import { accepted, type Parsed, quoted, refused } from "../parsed.ts";

/** The name of a time zone that this runtime knows, in its registered spelling. */
export type TimeZone = string & { readonly __brand: "TimeZone" };

/**
 * Whether this is the name of a region's zone, like Europe/Berlin, in its exact spelling.
 * Offsets (+02:00) are not zones: they have no rules for the days to come.
 */
export function isTimeZone(name: string): name is TimeZone {
  return registeredSpelling(name) === name;
}

/** Reads the name of a time zone; the hint has the right spelling where only the case is wrong. */
export function parseTimeZone(text: string): Parsed<TimeZone> {
  if (isTimeZone(text)) return accepted(text);
  const spelling = registeredSpelling(text);
  return refused(
    `${quoted(text)} is not a known time zone.`,
    spelling === undefined
      ? "Write a name of the IANA registry, for example Europe/Berlin or UTC."
      : `Write ${spelling}.`,
  );
}

/** Whether the zone keeps UTC for ever, so that its days all have 24 hours. */
export function isUtc(zone: TimeZone): boolean {
  return zone === "UTC" || zone === "Etc/UTC";
}

function registeredSpelling(name: string): string | undefined {
  if (name.length > LONGEST_NAME || !/^[A-Za-z]/.test(name)) return undefined;
  try {
    return new Temporal.ZonedDateTime(0n, name).timeZoneId;
  } catch {
    return undefined;
  }
}

/** The registry's longest name has 32 letters; no longer text is worth a lookup. */
const LONGEST_NAME = 64;
