/**
 * The heart: what a fact makes of an instance. Pure: the same arguments give the same decision.
 *
 * 1. A terminal instance decides nothing.
 * 2. A fact whose ticket is not open decides nothing: timers fire late and twice, workers report
 *    after they were interrupted, and none of that may be an error.
 * 3. A timer never fires before its due instant, whoever says so.
 * 4. What cannot be decided becomes an incident that keeps what a retry needs; nothing is lost and
 *    the queue that brought the fact is not blocked.
 */
import { MAX_OPEN_TICKETS } from "../definition/limits.ts";
import type { Instant } from "../definition/time/instant.ts";
import {
  closeTicket,
  type Draft,
  draftOf,
  end,
  type Given,
  note,
  openTicket,
  raiseIncident,
  reopenTicket,
  settle,
} from "./draft.ts";
import type { Fact, StartInput, TicketFact } from "./fact.ts";
import {
  type IncidentTicket,
  type IncidentType,
  type Instance,
  isTerminal,
  type Ticket,
  type TimerTicket,
} from "./instance.ts";
import { againOf, type Kept, keptOf, type Resolved } from "./kept.ts";
import { Refusal } from "./refusal.ts";
import type { Program } from "./runner.ts";

/** `changed: false` means that the fact was late, doubled or early: there is nothing to commit. */
export type Decision = Readonly<{ instance: Instance; changed: boolean }>;

/** Decides one fact. */
export async function decide(
  program: Program,
  instance: Instance,
  fact: Fact,
  given: Given,
): Promise<Decision> {
  if (!isWelcome(instance, fact, given)) return nothing(instance);
  try {
    const draft = draftOf(instance, given);
    await take(program, draft, fact);
    demandSound(draft);
    return { instance: settle(draft), changed: true };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    const type = cause instanceof Refusal ? cause.type : "UNKNOWN";
    return decideIncident(program, instance, fact, given, { type, message });
  }
}

/** What becomes of a fact that cannot be taken: an incident in place of its ticket. */
export function decideIncident(
  program: Program,
  instance: Instance,
  fact: Fact,
  given: Given,
  why: Readonly<{ type: IncidentType; message: string }>,
): Decision {
  if (!isWelcome(instance, fact, given)) return nothing(instance);
  const draft = draftOf(instance, given);
  const ticket = "ticket" in fact ? openTicketOf(instance, fact.ticket) : undefined;
  if (ticket) closeTicket(draft, ticket.id);
  raiseIncident(draft, {
    ...why,
    ref: ticket?.ref ?? 0,
    element: ticket?.element ?? program.definition.id,
    kept: keptOf(fact, ticket, why.type),
  });
  return { instance: settle(draft), changed: true };
}

/** Says whether the name of this fact can still be consumed. */
export function isWelcome(instance: Instance, fact: Fact, { now }: Pick<Given, "now">): boolean {
  if (isTerminal(instance)) return false;
  if (fact.kind === "started") return instance.trail.next === 1;
  if (fact.kind === "cancel-requested") return true;
  const ticket = openTicketOf(instance, fact.ticket);
  if (ticket === undefined) return false;
  switch (fact.kind) {
    case "task-completed":
      return ticket.on === "task";
    case "task-failed":
    case "task-claimed":
      return ticket.on === "task" && ticket.attempt === fact.attempt;
    case "timer-due":
      return ticket.on === "timer" && isDue(ticket, now);
    case "continued":
      return ticket.on === "continuation";
    case "incident-resolved":
      return ticket.on === "incident";
  }
}

/** The one place that says when a timer may fire; never early, by whatever time it is given. */
export const isDue = ({ dueAt }: TimerTicket, now: Instant): boolean => now >= dueAt;

async function take(program: Program, draft: Draft, fact: Fact): Promise<void> {
  if (fact.kind === "started") return begin(program, draft, fact.input);
  if (fact.kind === "cancel-requested") return cancel(program, draft, fact.reason);
  return takeTicketed(program, draft, fact);
}

function cancel(program: Program, draft: Draft, reason: string | undefined): void {
  note(draft, "cancel-requested", undefined, reason ? { reason } : undefined);
  program.runner.terminate(draft);
  end(draft, "cancelled", "cancel");
}

async function begin(program: Program, draft: Draft, input: StartInput): Promise<void> {
  note(draft, "started");
  if (input.deadline !== undefined) {
    const element = program.definition.id;
    openTicket(draft, { on: "timer", ref: 0, element, dueAt: input.deadline, deadline: true });
  }
  return program.runner.start(draft, input.variables);
}

async function takeTicketed(program: Program, draft: Draft, fact: TicketFact): Promise<void> {
  for (const ticket of draft.tickets) {
    if (ticket.id === fact.ticket) return consume(program, draft, fact, ticket);
  }
}

async function consume(
  program: Program,
  draft: Draft,
  fact: TicketFact,
  ticket: Ticket,
): Promise<void> {
  if (fact.kind === "task-claimed") return claim(draft, ticket, fact.claim);
  if (ticket.on === "timer" && ticket.deadline) return timeOut(program, draft);
  if (ticket.on === "incident" && ticket.kept && fact.kind === "incident-resolved") {
    return retryKept(program, draft, fact, ticket, ticket.kept);
  }
  return program.runner.resume(draft, fact, ticket);
}

/** An exclusive task is claimed before it runs; who owes it does not change. */
function claim(draft: Draft, ticket: Ticket, owner: string): void {
  note(draft, "task-claimed", ticket.element);
  draft.tickets = draft.tickets.map((open) =>
    open.id === ticket.id && open.on === "task" ? { ...open, claim: owner } : open,
  );
}

function timeOut(program: Program, draft: Draft): void {
  note(draft, "timer-due", program.definition.id, { deadline: true });
  program.runner.terminate(draft);
  end(draft, "failed", "timeout", { message: "The instance's deadline passed." });
}

/** Puts back what the incident replaced, then takes the fact again, if it was kept. */
async function retryKept(
  program: Program,
  draft: Draft,
  resolved: Resolved,
  { id, ref, element }: IncidentTicket,
  kept: Kept,
): Promise<void> {
  closeTicket(draft, id);
  note(draft, "incident-resolved", element, { incidentId: id });
  const { ticket, patch, fact } = againOf(kept, resolved);
  if (ticket) {
    draft.tickets.push(ticket);
    reopenTicket(draft, ticket);
  }
  if (patch) program.runner.patch(draft, ref, patch);
  if (fact) await take(program, draft, fact);
}

/** What no runner may leave behind. */
function demandSound(draft: Draft): void {
  if (draft.ended) return;
  if (draft.tickets.length === 0) {
    throw new Error("The step left the instance live with nothing that could ever wake it.");
  }
  if (draft.tickets.length > MAX_OPEN_TICKETS) {
    throw new Refusal(
      "TOO_MANY_OPEN_TICKETS",
      `The step would open ${draft.tickets.length} tickets, ${MAX_OPEN_TICKETS} is the limit.`,
    );
  }
}

const nothing = (instance: Instance): Decision => ({ instance, changed: false });

function openTicketOf(
  { tickets }: Readonly<{ tickets: readonly Ticket[] }>,
  id: string,
): Ticket | undefined {
  return tickets.find((ticket) => ticket.id === id);
}
