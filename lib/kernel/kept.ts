/**
 * What an incident keeps of a fact that could not be taken.
 *
 * 1. The ticket that the fact wanted is always kept: with it alone a task can run again and a timer
 *    fire again.
 * 2. Of a fact only as much is kept as cannot hurt. An instance that is too large keeps none, or
 *    each refusal would make it larger still.
 * 3. A start that an incident holds is never dropped: nothing would bring it again.
 */
import { MAX_KEPT_FACT_LENGTH } from "../definition/limits.ts";
import type { Fact } from "./fact.ts";
import type { IncidentTicket, IncidentType, TaskTicket, Ticket } from "./instance.ts";

export type Kept = NonNullable<IncidentTicket["kept"]>;

/**
 * What the incident holds for the retry. When a retry itself cannot be decided, the new incident
 * holds what the old one held, or they would be wrapped ever deeper.
 */
export function keptOf(fact: Fact, ticket: Ticket | undefined, type: IncidentType): Kept {
  const isTooLarge = type === "STATE_TOO_LARGE";
  if (ticket?.on === "incident" && ticket.kept) {
    return isTooLarge ? withoutResult(ticket.kept) : ticket.kept;
  }
  const isKept = !isTooLarge && (fact.kind === "started" || isSmall(fact));
  return { ...(isKept && { fact }), ...(ticket && { ticket }) };
}

/** The ticket as it is put back: with its fact as it was; a task without one is to run again. */
export function ticketAgain(ticket: Ticket, fact: Fact | undefined): Ticket {
  return ticket.on === "task" && fact === undefined ? nextAttempt(ticket) : ticket;
}

const isSmall = (fact: Fact): boolean => JSON.stringify(fact).length <= MAX_KEPT_FACT_LENGTH;

function withoutResult(kept: Kept): Kept {
  if (kept.fact?.kind === "started") return kept;
  const { fact: _, ...light } = kept;
  return light;
}

/** Late messages about the attempt whose result was dropped, and its claim, must not count. */
function nextAttempt({ claim: _claim, notBefore: _past, ...task }: TaskTicket): TaskTicket {
  return { ...task, attempt: task.attempt + 1 };
}
