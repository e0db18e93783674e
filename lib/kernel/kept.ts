/**
 * What an incident keeps of a fact that could not be taken, and what resolving makes of that.
 *
 * 1. The ticket that the fact wanted is always kept: with it alone a task can run again and a timer
 *    fire again.
 * 2. Large facts are not kept. An instance that is too large keeps none unless it was found to have
 *    room for it, or each refusal would make it larger still.
 * 3. A fact that would not be delivered again is kept whatever its size: a start, a signal, a
 *    message or an event. What an incident already holds of these is never dropped.
 * 4. What a resolution sets goes into the fact where the fact has a place for it: a start's
 *    variables, an earlier resolution, the attempts left after a failure. The runner takes other
 *    variables, before the fact is taken again.
 */
import { isVariables, type Variables } from "../definition/json.ts";
import { MAX_KEPT_FACT_LENGTH } from "../definition/limits.ts";
import type { Fact } from "./fact.ts";
import type { IncidentTicket, TaskTicket, Ticket } from "./instance.ts";
import { Refusal } from "./refusal.ts";

export type Kept = NonNullable<IncidentTicket["kept"]>;

/**
 * What the incident holds for the retry. When a retry itself cannot be decided, the new incident
 * holds what the old one held, so that they do not nest.
 */
export function keptOf(fact: Fact, ticket: Ticket | undefined, hasRoom: boolean): Kept {
  if (ticket?.on === "incident" && ticket.kept) {
    return hasRoom ? ticket.kept : withoutResult(ticket.kept);
  }
  const isKept = hasRoom && (isIrreplaceable(fact) || isSmall(fact));
  return { ...(isKept && { fact }), ...(ticket && { ticket }) };
}

/** What to do again, in this order: restore the ticket, patch the state, take the fact. */
type Again = Readonly<{ ticket?: Ticket; patch?: Variables; fact?: Fact }>;

/** What resolving the incident does with what it kept, by rule 4. */
export function againOf(kept: Kept, resolved: Resolved): Again {
  const { fact, ticket } = kept;
  const { variables, retries } = resolved;
  if (fact?.kind === "started") return { fact: withVariables(fact, variables) };
  if (ticket?.on === "incident") return { ticket, fact: saidAnew(ticket, fact, resolved) };
  const again = ticket?.on === "task" ? taskAgain(ticket, fact, retries) : kept;
  return { ...again, ...(variables && { patch: variables }) };
}

export type Resolved = Extract<Fact, { kind: "incident-resolved" }>;
type Started = Extract<Fact, { kind: "started" }>;

const IRREPLACEABLE: ReadonlySet<Fact["kind"]> = new Set([
  "started",
  "signal-received",
  "message-received",
  "event-received",
  "event-sent",
]);

const isIrreplaceable = ({ kind }: Fact): boolean => IRREPLACEABLE.has(kind);

const isSmall = (fact: Fact): boolean => JSON.stringify(fact).length <= MAX_KEPT_FACT_LENGTH;

function withoutResult(kept: Kept): Kept {
  if (kept.fact && isIrreplaceable(kept.fact)) return kept;
  const { fact: _, ...light } = kept;
  return light;
}

/** An input that is an object takes the variables as well: a workflow in code reads nothing else. */
function withVariables({ kind, input: start }: Started, variables: Variables = {}): Started {
  if (Object.keys(variables).length === 0) return { kind, input: start };
  const { isBare: _, ...given } = start;
  const { input } = given;
  const patched = { ...given, variables: { ...given.variables, ...variables } };
  if (input === undefined) return { kind, input: patched };
  if (!isVariables(input)) throw new Refusal("IO_MAPPING_ERROR", NO_VARIABLES);
  return { kind, input: { ...patched, input: { ...input, ...variables } } };
}

const NO_VARIABLES =
  "The input of this workflow is not an object, so no variables can be set in it. Resolve this incident without variables.";

/** Resolves the restored incident; variables that are not set again keep their first value. */
function saidAnew(incident: IncidentTicket, fact: Fact | undefined, resolved: Resolved): Resolved {
  const said = fact?.kind === "incident-resolved" ? fact : undefined;
  const variables = { ...said?.variables, ...resolved.variables };
  return { ...said, ...resolved, ticket: incident.id, variables };
}

function taskAgain(ticket: TaskTicket, fact: Fact | undefined, retries: number | undefined): Again {
  const said = retries !== undefined && { retries };
  if (fact === undefined) return { ticket: { ...nextAttempt(ticket), ...said } };
  // A failure carries the number of attempts left after it.
  const corrected = fact.kind === "task-failed" ? { ...fact, ...said } : fact;
  return { ticket: { ...ticket, ...said }, fact: corrected };
}

/** Late messages about the attempt whose result was dropped, and its claim, must not count. */
function nextAttempt({ claim: _claim, notBefore: _past, ...task }: TaskTicket): TaskTicket {
  return { ...task, attempt: task.attempt + 1 };
}
