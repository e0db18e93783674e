import type { TimerSpec } from "../../definition/graph.ts";
import type { Parsed } from "../../definition/parsed.ts";
import {
  firstOfCycle,
  nextOfCycle,
  parseCycle,
  parseStoredCycle,
  repetitionsOf,
} from "../../definition/time/cycle.ts";
import { addDuration, parseDuration } from "../../definition/time/duration.ts";
import { parseInstant } from "../../definition/time/instant.ts";
import { parseTimeZone, type TimeZone } from "../../definition/time/time-zone.ts";
import { closeTicket, openTicket } from "../draft.ts";
import type { TimerTicket } from "../instance.ts";
import { Refusal } from "../refusal.ts";
import { demand } from "./evaluate.ts";
import type { Run } from "./run.ts";
import type { Token } from "./state.ts";
import { lookupFrom } from "./variables.ts";

/** When a timer is due: computed once, on entry, never again. */
export type Arming = Pick<TimerTicket, "dueAt" | "cycle">;

/** Computes a timer of a token; an instant in the past is due at once. */
export async function armingOf(run: Run, token: Token, timer: TimerSpec): Promise<Arming> {
  const { now } = run.draft;
  const lookup = lookupFrom(run, token);
  const text = await demand(run, { kind: "string", of: timer.value, lookup });
  const zone = zoneOf(timer.zone);
  switch (timer.as) {
    case "duration":
      return { dueAt: addDuration(now, expected(parseDuration(text)), zone) };
    case "date":
      return { dueAt: expected(parseInstant(text)) };
    case "cycle": {
      const parse = timer.value.kind === "static" ? parseStoredCycle : parseCycle;
      const cycle = expected(parse(text, zone));
      const left = repetitionsOf(cycle);
      const dueAt = firstOfCycle(cycle, now);
      return { dueAt, cycle: { text, left, ...(zone && { zone }) } };
    }
  }
}

/**
 * Arms the next repetition of a cycle in place of the one that fired, counted from when that was
 * due, however late it fired. Other timers are closed when they fire.
 */
export function armAgain({ draft }: Run, ticket: TimerTicket): void {
  closeTicket(draft, ticket.id);
  const { ref, element, cycle, dueAt } = ticket;
  if (cycle === undefined || cycle.left === 1) return;
  const interval = expected(parseStoredCycle(cycle.text, zoneOf(cycle.zone)));
  const left = cycle.left === "unbounded" ? cycle.left : cycle.left - 1;
  const next = nextOfCycle(interval, { previousDue: dueAt, now: draft.now });
  openTicket(draft, { on: "timer", ref, element, dueAt: next, cycle: { ...cycle, left } });
}

function zoneOf(name: string | undefined): TimeZone | undefined {
  return name === undefined ? undefined : expected(parseTimeZone(name));
}

/** The value of an expression that must be readable as time. */
export function expected<T>(parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.value;
  throw new Refusal("EXTRACT_VALUE_ERROR", `${parsed.problem} ${parsed.hint}`);
}
