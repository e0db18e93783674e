/**
 * What a fact makes of an instance. Pure: the same arguments give the same decision.
 *
 * 1. A terminal instance decides nothing.
 * 2. A fact whose ticket is not open decides nothing: timers fire late and twice, workers report
 *    after they were interrupted, and none of that may be an error.
 * 3. A timer never fires before its due instant, whatever triggers it.
 * 4. A wait takes each signal, message and event once, and no signal that was broadcast before it
 *    opened or that its own path has thrown.
 * 5. What cannot be decided becomes an incident that keeps what a retry needs; nothing is lost and
 *    the queue that delivered the fact is not blocked.
 */
import { fullBudget } from "../definition/expression.ts";
import type { Instant } from "../definition/time/instant.ts";
import { findTicket, isBatchItem } from "./batch.ts";
import { isPairTaken, takenRefusal } from "./correlation.ts";
import { deadlineOf, lateError } from "./deadline.ts";
import { demandSound } from "./demand-sound.ts";
import {
  closeTicket,
  type Draft,
  draftOf,
  end,
  finish,
  type Given,
  note,
  openTicket,
  raiseIncident,
  reopenTicket,
} from "./draft.ts";
import type { InstanceError } from "./ending.ts";
import type { Fact, SignalReceived, StartInput, TicketFact, VariablesPatched } from "./fact.ts";
import { keepFailedItem, type Why } from "./failed-items.ts";
import { isExpected, isUnread, keepUnread, rememberRead, rememberSent, waitFor } from "./inbox.ts";
import {
  type IncidentTicket,
  type Instance,
  isTerminal,
  type SignalTicket,
  type TaskTicket,
  type Ticket,
  type TimerTicket,
} from "./instance.ts";
import { againOf, type Kept, keptOf, type Resolved } from "./kept.ts";
import type { QueuedEvent } from "./queued-event.ts";
import { Refusal } from "./refusal.ts";
import type { Program } from "./runner.ts";
import { hasSeen } from "./seen.ts";
import { assignTo, isItsTurn } from "./user-task.ts";

/**
 * `changed: false` means that the fact was late, doubled or early: there is nothing to commit.
 * `work` is what its expressions have used; absent: nothing.
 */
export type Decision = Readonly<{ instance: Instance; changed: boolean; work?: number }>;

/** Decides one fact. */
export async function decide(
  program: Program,
  instance: Instance,
  fact: Fact,
  given: Given,
): Promise<Decision> {
  if (!isWelcome(instance, fact, given)) return nothing(instance);
  const draft = draftOf(instance, given);
  try {
    draft.failsUncaught = program.definition.onUncaught === "fail";
    await take(program, draft, fact);
    if (draft.uncaught && !draft.ended) fail(program, draft, draft.uncaught);
    demandSound(program, draft);
    return { instance: finish(draft), changed: true, work: workOf(draft) };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    const { type, site } = cause instanceof Refusal ? cause : UNKNOWN;
    const why = { type, message, ...(site && { site }) } as const;
    const decision = decideIncident(program, instance, { fact, why }, given);
    return { ...decision, work: workOf(draft) };
  }
}

const UNKNOWN = { type: "UNKNOWN", site: undefined } as const;

/** Time spent on patterns counts as well: the whole time budget weighs as much as the work budget. */
function workOf({ budget: { work, patternMs } }: Draft): number {
  const full = fullBudget();
  const ofPatterns = (full.patternMs - patternMs) / full.patternMs;
  return full.work - work + Math.round(full.work * ofPatterns);
}

/** A fact that cannot be taken, and what its incident says about it. */
type Refused = Readonly<{
  fact: Fact;
  why: Why;
  /** There is room for the fact, although the instance would be too large after the step. */
  hasRoom?: boolean;
}>;

/** Turns a fact that cannot be taken into an incident in place of its ticket. */
export function decideIncident(
  program: Program,
  instance: Instance,
  { fact, why, hasRoom = why.type !== "STATE_TOO_LARGE" }: Refused,
  given: Given,
): Decision {
  if (!isWelcome(instance, fact, given)) return nothing(instance);
  const draft = draftOf(instance, given);
  const ticket = "ticket" in fact ? findTicket(instance.tickets, fact.ticket) : undefined;
  if (ticket && isBatchItem(ticket)) {
    // The other items of the batch continue.
    const title = program.runner.itemTitle?.(instance, ticket);
    keepFailedItem(draft, ticket, { ...why, title });
    return { instance: finish(draft), changed: true };
  }
  if (ticket) closeTicket(draft, ticket.id);
  const kept = keptOf(fact, ticket, hasRoom);
  if (kept.fact) remember(draft, kept.fact, ticket);
  raiseIncident(draft, {
    ...why,
    ref: ticket?.ref ?? 0,
    element: ticket?.element ?? program.definition.id,
    kept,
  });
  return { instance: finish(draft), changed: true };
}

/** Whether the instance can still take this fact. */
export function isWelcome(instance: Instance, fact: Fact, { now }: Pick<Given, "now">): boolean {
  if (isTerminal(instance)) return false;
  if (fact.kind === "started") return instance.trail.next === 1;
  if (fact.kind === "cancel-requested" || fact.kind === "variables-patched") return true;
  if (fact.kind === "event-sent") return isExpected(instance, fact.event);
  const ticket = findTicket(instance.tickets, fact.ticket);
  if (ticket === undefined) return false;
  switch (fact.kind) {
    case "task-completed":
      return ticket.on === "task";
    case "task-failed":
      return ticket.on === "task" && (isBatchItem(ticket) || ticket.attempt === fact.attempt);
    case "task-claimed":
      return ticket.on === "task" && !isBatchItem(ticket) && ticket.attempt === fact.attempt;
    case "task-assigned":
      return isItsTurn(ticket, fact);
    case "timer-due":
      return ticket.on === "timer" && isDue(ticket, now);
    case "signal-received":
      return ticket.on === "signal" && isMeantFor(ticket, fact);
    case "message-received":
      return ticket.on === "message";
    case "event-received":
      return ticket.on === "event" && isUnread(instance, ticket, fact, now);
    case "child-ended":
      return ticket.on === "child" && !ticket.detached;
    case "child-started":
      return ticket.on === "child" && ticket.detached === true;
    case "child-refused":
      return ticket.on === "child";
    case "continued":
      return ticket.on === "continuation";
    case "incident-resolved":
      return ticket.on === "incident";
  }
}

/** The one place that says when a timer may fire; never early, by whatever time it is given. */
export const isDue = ({ dueAt }: TimerTicket, now: Instant): boolean => now >= dueAt;

/** A wait takes what others broadcast after it was opened, and each broadcast once. */
function isMeantFor({ row, notIds, taken }: SignalTicket, fact: SignalReceived): boolean {
  if (row !== undefined && fact.seq <= row.after) return false;
  if (notIds?.includes(fact.broadcastId)) return false;
  return taken === undefined || !hasSeen(taken, fact.seq);
}

async function take(program: Program, draft: Draft, fact: Fact): Promise<void> {
  if (fact.kind === "started") return begin(program, draft, fact.input);
  if (fact.kind === "cancel-requested") return cancel(program, draft, fact.reason);
  if (fact.kind === "event-sent") return receive(program, draft, fact.event);
  if (fact.kind === "variables-patched") return assign(program, draft, fact);
  return takeTicketed(program, draft, fact);
}

function cancel(program: Program, draft: Draft, reason: string | undefined): void {
  note(draft, "cancel-requested", undefined, reason ? { reason } : undefined);
  program.runner.terminate(draft);
  end(draft, "cancelled", "cancel");
}

/** History names the variables that were set, not their values. */
function assign(program: Program, draft: Draft, { scope, variables }: VariablesPatched) {
  note(draft, "variables-patched", scope, { names: Object.keys(variables) });
  return program.runner.assign(draft, scope, variables);
}

async function begin(program: Program, draft: Draft, input: StartInput): Promise<void> {
  note(draft, "started");
  const { definition } = program;
  const dueAt = deadlineOf(definition, draft.now, input.deadline);
  if (dueAt !== undefined) {
    openTicket(draft, { on: "timer", ref: 0, element: definition.id, dueAt, deadline: true });
  }
  return program.runner.start(draft, input);
}

/** An event that has expired on arrival is remembered, so that a redelivery is ignored. */
async function receive(program: Program, draft: Draft, event: QueuedEvent): Promise<void> {
  rememberSent(draft, event);
  if (event.expiresAt <= draft.now) return;
  const { id: eventId, name, payload } = event;
  const wait = waitFor(draft.tickets, name);
  if (wait === undefined) {
    note(draft, "event-sent", undefined, { eventId, name });
    keepUnread(draft, event, draft.now);
    return;
  }
  await consume(
    program,
    draft,
    { kind: "event-received", ticket: wait.id, eventId, payload },
    wait,
  );
}

async function takeTicketed(program: Program, draft: Draft, fact: TicketFact): Promise<void> {
  const ticket = findTicket(draft.tickets, fact.ticket);
  return ticket && consume(program, draft, fact, ticket);
}

async function consume(
  program: Program,
  draft: Draft,
  fact: TicketFact,
  ticket: Ticket,
): Promise<void> {
  if (fact.kind === "task-claimed" && ticket.on === "task") return claim(draft, ticket, fact.claim);
  if (fact.kind === "task-assigned" && ticket.on === "task") return assignTo(draft, ticket, fact);
  if (ticket.on === "timer" && ticket.deadline) return timeOut(program, draft);
  if (ticket.on === "incident" && ticket.kept && fact.kind === "incident-resolved") {
    return retryKept(program, draft, fact, { ...ticket, kept: ticket.kept });
  }
  remember(draft, fact, ticket);
  return program.runner.resume(draft, fact, ticket);
}

/** Records the event for deduplication, whether it is taken or kept by an incident. */
function remember(draft: Draft, fact: Fact, ticket: Ticket | undefined): void {
  if (fact.kind === "event-sent") rememberSent(draft, fact.event);
  if (fact.kind === "event-received" && ticket?.on === "event") {
    rememberRead(draft, ticket, fact, draft.now);
  }
}

/** An exclusive task is claimed before it runs; from now on the claimant holds it. */
function claim(draft: Draft, ticket: TaskTicket, owner: string): void {
  note(draft, "task-claimed", ticket.element);
  reopenTicket(draft, { ...ticket, claim: owner });
}

function timeOut(program: Program, draft: Draft): void {
  note(draft, "timer-due", program.definition.id, { deadline: true });
  program.runner.terminate(draft);
  end(draft, "failed", "timeout", lateError(program.definition));
}

/** Nothing caught an error, and the definition says that it ends the instance. */
function fail(program: Program, draft: Draft, error: InstanceError): void {
  program.runner.terminate(draft);
  end(draft, "failed", "failure", error);
}

/** Restores the ticket that the incident replaced, then takes the fact again if it was kept. */
async function retryKept(
  program: Program,
  draft: Draft,
  resolved: Resolved,
  { id, ref, element, kept }: IncidentTicket & Readonly<{ kept: Kept }>,
): Promise<void> {
  closeTicket(draft, id);
  note(draft, "incident-resolved", element, { incidentId: id });
  const { ticket, patch, fact } = againOf(kept, resolved);
  if (ticket) {
    draft.tickets.push(ticket);
    reopenTicket(draft, withoutRow(ticket));
  }
  if (patch) program.runner.patch(draft, ref, patch);
  if (fact) await take(program, draft, fact);
  const open = ticket && findTicket(draft.tickets, ticket.id);
  // Another wait for it may have opened while the incident was open.
  if (open?.on === "message" && isPairTaken(draft, open)) throw takenRefusal(draft, open);
}

/** The wait had no row while the incident was open, so it gets a new one. */
function withoutRow(ticket: Ticket): Ticket {
  if (ticket.on !== "signal" && ticket.on !== "event") return ticket;
  const { row: _, ...begun } = ticket;
  return begun;
}

const nothing = (instance: Instance): Decision => ({ instance, changed: false });
