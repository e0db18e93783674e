import type { Parsed } from "../parsed.ts";
import { type Cron, looksLikeCron, nextMatch, parseCron } from "./cron.ts";
import { type Instant, instantFrom, LAST_INSTANT } from "./instant.ts";
import {
  dueAfterFiring,
  type Firing,
  firstDue,
  parseRepeatingInterval,
  parseStoredInterval,
  type RepeatingInterval,
} from "./interval.ts";
import type { TimeZone } from "./time-zone.ts";

/** A timer that fires more than once: a repeating interval, or cron, which never ends. */
export type Cycle = RepeatingInterval | Cron;

/** Reads R3/PT10M, R/P1D, six fields of cron, or a macro such as @daily. */
export function parseCycle(text: string, zone?: TimeZone): Parsed<Cycle> {
  return looksLikeCron(text) ? parseCron(text, zone) : parseRepeatingInterval(text, zone);
}

/** Reads a cycle of a stored definition or timer, which may be as short as older releases allowed. */
export function parseStoredCycle(text: string, zone?: TimeZone): Parsed<Cycle> {
  return looksLikeCron(text) ? parseCron(text, zone) : parseStoredInterval(text, zone);
}

export const isCron = (cycle: Cycle): cycle is Cron => "hours" in cycle;

/** How often it fires in all. */
export const repetitionsOf = (cycle: Cycle): RepeatingInterval["repetitions"] =>
  isCron(cycle) ? "unbounded" : cycle.repetitions;

/** When a cycle that is armed now fires first. */
export function firstOfCycle(cycle: Cycle, armedAt: Instant): Instant {
  return isCron(cycle) ? (nextMatch(cycle, armedAt) ?? LAST_INSTANT) : firstDue(cycle, armedAt);
}

/**
 * When a cycle that fired for `previousDue` at `now` is due again. An unbounded cycle skips missed
 * firings and stays on its schedule; a finite one makes up for each.
 */
export function nextOfCycle(cycle: Cycle, firing: Firing): Instant {
  if (!isCron(cycle)) return dueAfterFiring(cycle, firing);
  const { previousDue, now } = firing;
  return nextMatch(cycle, instantFrom(Math.max(now, previousDue))) ?? LAST_INSTANT;
}
