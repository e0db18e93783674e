/** What a fact means to the operation whose ticket it names. */
import type { Json } from "../../definition/json.ts";
import type { Outcome } from "../../definition/sandbox.ts";
import { type Draft, noteVisit } from "../draft.ts";
import type { TaskFailed, TicketFact } from "../fact.ts";
import type { Ticket } from "../instance.ts";
import { retryTask } from "../retry.ts";
import type { Recorded } from "./journal.ts";
import { membersOf, numberOf } from "./open-operations.ts";
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
  const n = numberOf(state, ticket);
  if (fact.kind === "timer-due" && isTimeout(state, ticket)) {
    return timedOut(draft, state, ticket);
  }
  if (!isAwaited(fact)) throw new Error(`A workflow in code does not wait for "${fact.kind}".`);
  noteVisit(draft, fact.kind, { element, occurrence: n, data: dataOf(fact) });
  const outcome = outcomeOf(draft, state, fact, ticket);
  return outcome === undefined ? [] : [{ n, element, outcome }];
}

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
  switch (fact.kind) {
    case "task-completed":
      return { value: fact.result === undefined ? fact.variables : fact.result };
    case "task-failed":
      return failedOrAgain(draft, state, fact, ticket);
    case "timer-due":
      return { value: ticket.on === "timer" ? ticket.dueAt : null };
    case "signal-received":
    case "message-received":
    case "event-received":
      return { value: fact.payload };
  }
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
    default:
      return undefined;
  }
}

function failedOrAgain(
  draft: Draft,
  state: CodeState,
  fact: TaskFailed,
  ticket: Ticket,
): Outcome | undefined {
  if (ticket.on !== "task") throw new Error("Only a task can fail.");
  const [, , , options] = operationAt(state, numberOf(state, ticket)) ?? [];
  const table = options?.retry;
  // Attempts of a batch item are counted in its messages: what reaches the instance is final.
  if (ticket.member === undefined && !isFinal(fact, table)) {
    const chance = chanceOf(draft.before.id, ticket);
    const next = paused(fact, { table, now: draft.now, chance });
    const retried = retryTask(draft, ticket, next);
    if (retried.ok && retried.value) return undefined;
  }
  const { message, code, attempt: attempts } = fact;
  const { type } = ticket;
  return {
    failure: {
      name: "TaskFailed",
      message,
      type,
      attempts,
      ...(code !== undefined && { code }),
    },
  };
}

/** A timer that an operation did not ask for itself is the timeout of its task. */
const isTimeout = (state: CodeState, { ref }: Ticket): boolean =>
  (operationAt(state, ref)?.length ?? 0) > 2 || membersOf(state, ref) !== undefined;

/** Every operation that is still open under this timeout has timed out. */
function timedOut(draft: Draft, state: CodeState, { ref, element }: Ticket): readonly Recorded[] {
  const numbers = membersOf(state, ref) ?? [ref];
  return numbers.flatMap((n) => {
    const [, , , options] = operationAt(state, n) ?? [];
    if (options === undefined) return [];
    noteVisit(draft, "timer-due", { element, occurrence: n, data: { timeout: true } });
    const task = draft.tickets.find((open) => open.on === "task" && open.ref === ref);
    const attempts = task?.on === "task" ? task.attempt : 1;
    const failure = {
      name: "TimedOut",
      code: "TIMEOUT",
      message: `The task ${element} was not done within ${options.timeout ?? "its timeout"}.`,
      type: element,
      attempts,
    };
    return [{ n, element, outcome: { failure } }];
  });
}
