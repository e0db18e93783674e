/** What a fact means to the operation whose ticket it names. */
import type { Json } from "../../definition/json.ts";
import type { Outcome } from "../../definition/sandbox.ts";
import { type Draft, noteVisit } from "../draft.ts";
import type { TaskFailed, TicketFact } from "../fact.ts";
import type { TaskTicket, Ticket } from "../instance.ts";
import { Refusal } from "../refusal.ts";
import { retryTask } from "../retry.ts";
import type { Recorded } from "./journal.ts";
import { isTimeout, numberOf, operationsOf } from "./open-operations.ts";
import { chanceOf, isFinal, paused } from "./retry-table.ts";
import { type CodeState, operationAt } from "./state.ts";

/** The outcomes that the fact brings; none while another attempt follows. */
export function outcomesOf(
  draft: Draft,
  state: CodeState,
  fact: TicketFact,
  ticket: Ticket,
): readonly Recorded[] {
  const { element } = ticket;
  if (isTimeout(state, ticket)) return timedOut(draft, state, ticket);
  if (!isAwaited(fact)) throw new Error(`A workflow in code does not wait for "${fact.kind}".`);
  const n = numberOf(state, ticket);
  if (operationAt(state, n) === undefined) throw missing(n, element);
  noteVisit(draft, fact.kind, { element, occurrence: n, data: dataOf(fact) });
  const outcome = outcomeOf(draft, state, fact, ticket);
  return outcome === undefined ? [] : [{ n, element, outcome }];
}

/** A ticket without its operation: the state was damaged. */
const missing = (n: number, element: string): Refusal =>
  new Refusal(
    "NON_DETERMINISM",
    `The stored state of the workflow is damaged: ${element} is open, and its operation ${n} is not.`,
  );

const AWAITED = [
  "task-completed",
  "task-failed",
  "timer-due",
  "signal-received",
  "message-received",
  "event-received",
] as const;
type Awaited = Extract<TicketFact, { kind: (typeof AWAITED)[number] }>;

const isAwaited = (fact: TicketFact): fact is Awaited => AWAITED.some((kind) => kind === fact.kind);

function outcomeOf(
  draft: Draft,
  state: CodeState,
  fact: Awaited,
  ticket: Ticket,
): Outcome | undefined {
  const dueAt = ticket.on === "timer" ? ticket.dueAt : null;
  if (fact.kind === "task-failed" && ticket.on === "task") {
    return failedOrAgain(draft, state, fact, ticket);
  }
  if (fact.kind === "task-completed") {
    return { value: fact.result === undefined ? fact.variables : fact.result };
  }
  return { value: "payload" in fact ? fact.payload : dueAt };
}

/** What history says of it, besides the element. */
function dataOf(fact: Awaited): Json | undefined {
  switch (fact.kind) {
    case "signal-received":
      return { broadcastId: fact.broadcastId, wait: fact.ticket };
    case "message-received":
      return { messageId: fact.messageId };
    case "event-received":
      return { eventId: fact.eventId, wait: fact.ticket };
    case "task-failed": {
      const { attempt, message, code } = fact;
      return { attempt, message, ...(code !== undefined && { code }) };
    }
    case "task-completed":
    case "timer-due":
      return undefined;
  }
}

/** A failure that is final; undefined when the ticket has got another attempt. */
function failedOrAgain(
  draft: Draft,
  state: CodeState,
  fact: TaskFailed,
  ticket: TaskTicket,
): Outcome | undefined {
  if (mayTryAgain(draft, state, fact, ticket)) return undefined;
  const { message, code, attempt: attempts } = fact;
  const { type } = ticket;
  const said = { name: "TaskFailed", message, type, attempts };
  return { failure: { ...said, ...(code !== undefined && { code }) } };
}

/** Attempts of a batch item are counted in its messages: what reaches the instance is final. */
function mayTryAgain(
  draft: Draft,
  state: CodeState,
  fact: TaskFailed,
  ticket: TaskTicket,
): boolean {
  const table = operationAt(state, ticket.ref)?.[3]?.retry;
  if (ticket.member !== undefined || isFinal(fact, table)) return false;
  const chance = chanceOf(draft.before.id, ticket);
  const again = retryTask(draft, ticket, paused(fact, { table, now: draft.now, chance }));
  return again.ok && again.value;
}

/** Every operation that is still open under this timeout has timed out. */
function timedOut(draft: Draft, state: CodeState, ticket: Ticket): readonly Recorded[] {
  const { ref, element } = ticket;
  const isTask = (open: Ticket): open is TaskTicket => open.on === "task" && open.ref === ref;
  const task = draft.tickets.find(isTask);
  // While it pauses, its ticket has the number of the attempt to come.
  const isPaused = (task?.notBefore ?? draft.now) > draft.now;
  const attempts = (task?.attempt ?? 1) - (isPaused ? 1 : 0);
  return operationsOf(state, ticket).flatMap((n) => {
    const timeout = operationAt(state, n)?.[3]?.timeout;
    if (timeout === undefined) return [];
    noteVisit(draft, "timer-due", { element, occurrence: n, data: { timeout: true } });
    const message = `The task ${element} was not done within ${timeout}.`;
    const failure = { name: "TimedOut", code: "TIMEOUT", message, type: element, attempts };
    return [{ n, element, outcome: { failure } }];
  });
}
