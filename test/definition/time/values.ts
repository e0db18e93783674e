import type { Parsed } from "../../../lib/definition/parsed.ts";
import { type Instant, parseInstant } from "../../../lib/definition/time/instant.ts";
import { parseTimeZone, type TimeZone } from "../../../lib/definition/time/time-zone.ts";

/** The value of a text that the test knows to be right. */
export function valueIn<T>(parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.value;
  throw new Error(`${parsed.problem} ${parsed.hint}`);
}

/** The instant of a text without its Z; the time may be left out. */
export function at(text: string): Instant {
  return valueIn(parseInstant(text.includes("T") ? `${text}Z` : `${text}T00:00Z`));
}

export function zone(name: string): TimeZone {
  return valueIn(parseTimeZone(name));
}
