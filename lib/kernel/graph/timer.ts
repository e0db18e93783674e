import type { TimerSpec } from "../../definition/graph.ts";
import type { Parsed } from "../../definition/parsed.ts";
import { addDuration, parseDuration } from "../../definition/time/duration.ts";
import { parseInstant } from "../../definition/time/instant.ts";
import {
  dueAfterFiring,
  firstDue,
  parseRepeatingInterval,
  type RepeatingInterval,
} from "../../definition/time/interval.ts";
import { parseTimeZone, type TimeZone } from "../../definition/time/time-zone.ts";
import { closeTicket, note, openTicket } from "../draft.ts";
import type { TimerTicket } from "../instance.ts";
import { Refusal } from "../refusal.ts";
import { demand } from "./evaluate.ts";
import { interrupt } from "./interrupt.ts";
import { type Boundary, spotOf } from "./plan.ts";
import { arrive, push, type Run } from "./run.ts";
import { type Token, tokenAt } from "./state.ts";
import { lookupFrom } from "./variables.ts";

/** When a timer is due: computed once, on entry, never again. */
export type Arming = Readonly<{ element: string }> & Pick<TimerTicket, "dueAt" | "cycle">;

/** Computes a timer of a token; what has passed already is due at once. */
export async function armingOf(
  run: Run,
  token: Token,
  { element, timer }: Readonly<{ element: string; timer: TimerSpec }>,
): Promise<Arming> {
  const { now } = run.draft;
  const lookup = lookupFrom(run, token);
  const text = await demand(run, { kind: "string", of: timer.value, lookup });
  const zone = zoneOf(timer.zone);
  switch (timer.as) {
    case "duration":
      return { element, dueAt: addDuration(now, expected(parseDuration(text)), zone) };
    case "date":
      return { element, dueAt: expected(parseInstant(text)) };
    case "cycle": {
      const cycle = cycleOf(text, zone);
      const left = cycle.repetitions;
      const dueAt = firstDue(cycle, now);
      return { element, dueAt, cycle: { text, left, ...(zone && { zone }) } };
    }
  }
}

/** Computes the boundary timers that a host is entered with. */
export async function boundaryArmings(run: Run, host: Token): Promise<readonly Arming[]> {
  const armings: Arming[] = [];
  for (const { id, trigger } of spotOf(run.plan, host.node).boundaries) {
    if (trigger.on !== "timer") continue;
    armings.push(await armingOf(run, host, { element: id, timer: trigger.timer }));
  }
  return armings;
}

/** Opens timers of a token; those of its boundary events go when it goes. */
export function arm(run: Run, token: Token, armings: readonly Arming[]): void {
  for (const arming of armings) openTicket(run.draft, { on: "timer", ref: token.id, ...arming });
}

/** A timer of a token is due: its own, or that of a boundary event which the token is host to. */
export function fire(run: Run, ticket: TimerTicket): void {
  const { draft, plan } = run;
  const token = tokenAt(run, ticket.ref);
  note(draft, "timer-due", ticket.element);
  closeTicket(draft, ticket.id);
  const { boundaries } = spotOf(plan, token.node);
  const boundary = boundaries.find(({ id }) => id === ticket.element);
  if (boundary === undefined) push(run, "complete", token.id);
  else fireBoundary(run, { host: token, boundary, ticket });
}

function fireBoundary(
  run: Run,
  { host, boundary, ticket }: Readonly<{ host: Token; boundary: Boundary; ticket: TimerTicket }>,
): void {
  if (boundary.interrupting) interrupt(run, host);
  else arm(run, host, nextArming(run, ticket));
  arrive(run, host.in, boundary.id);
}

/** The next round of a cycle: counted from when this one was due, however late it fired. */
function nextArming({ draft }: Run, ticket: TimerTicket): readonly Arming[] {
  const { cycle, dueAt, element } = ticket;
  if (cycle === undefined || cycle.left === 1) return [];
  const interval = cycleOf(cycle.text, zoneOf(cycle.zone));
  const left = cycle.left === "unbounded" ? cycle.left : cycle.left - 1;
  const next = dueAfterFiring(interval, { previousDue: dueAt, now: draft.now });
  return [{ element, dueAt: next, cycle: { ...cycle, left } }];
}

function cycleOf(text: string, zone: TimeZone | undefined): RepeatingInterval {
  return expected(parseRepeatingInterval(text, zone));
}

function zoneOf(name: string | undefined): TimeZone | undefined {
  return name === undefined ? undefined : expected(parseTimeZone(name));
}

/** What an expression gave must be readable as time. */
export function expected<T>(parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.value;
  throw new Refusal("EXTRACT_VALUE_ERROR", `${parsed.problem} ${parsed.hint}`);
}
