/** What the operations of a feed make of a draft: tickets, effects, and waits that are disarmed. */
import { variablesIn } from "../../definition/json.ts";
import { MAX_MEMBERS_APART } from "../../definition/limits.ts";
import type { OpenedOperation, Operation } from "../../definition/sandbox.ts";
import { addDuration, parseDuration } from "../../definition/time/duration.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import { isBatch, openIn, withoutItem } from "../batch.ts";
import { withoutBit } from "../bits.ts";
import { isPairTaken } from "../correlation.ts";
import {
  closeTicket,
  closeTickets,
  type Draft,
  emit,
  keepTicket,
  note,
  noteVisit,
  openTicket,
  reopenTicket,
} from "../draft.ts";
import { type FailedItems, holdsFailedItems } from "../failed-items.ts";
import type { BatchTicket, Ticket } from "../instance.ts";
import type { Recorded } from "./journal.ts";
import { elementOf } from "./operation-name.ts";
import { attemptsOf, timeoutAt } from "./retry-table.ts";
import {
  type CodeState,
  type OpenOperation,
  operationAt,
  withOperation,
  withoutOperation,
} from "./state.ts";

type TaskOperation = Extract<Operation, { op: "task" }>;

/** The state after the operations, and outcomes that some of them had at once. */
export type Applied = Readonly<{ state: CodeState; atOnce: readonly Recorded[] }>;

/** Applies the operations in their order. */
export function applyOperations(
  draft: Draft,
  before: CodeState,
  operations: readonly Operation[],
): Applied {
  const atOnce: Recorded[] = [];
  const batches = batchesIn(operations);
  let state = before;
  for (const operation of operations) {
    switch (operation.op) {
      case "publish":
        publish(draft, operation);
        break;
      case "close":
        state = disarm(draft, state, operation.n);
        break;
      case "task":
      case "timer":
      case "event":
      case "signal":
      case "message": {
        const refused = open(draft, operation, batches);
        if (refused) atOnce.push(refused);
        state = withOperation(state, openOperation(operation));
        state = withBatch(state, operation, batches);
      }
    }
  }
  return { state, atOnce };
}

function publish(draft: Draft, { name, payload }: Extract<Operation, { op: "publish" }>): void {
  emit(draft, { kind: "publish-signal", name, payload: variablesIn(payload) });
  note(draft, "signal-thrown", `signal:${name}`);
}

function openOperation(operation: OpenedOperation): OpenOperation {
  const { n, at = 0 } = operation;
  if (operation.op !== "task") return [n, at];
  const { input, options } = operation;
  return options === undefined ? [n, at, input] : [n, at, input, options];
}

/** Opens the ticket of an operation; the outcome, where it has one at once. */
function open(draft: Draft, operation: OpenedOperation, batches: Batches): Recorded | undefined {
  const { n } = operation;
  const element = elementOf(operation);
  noteVisit(draft, "element-entered", { element, occurrence: n });
  const common = { ref: n, element };
  switch (operation.op) {
    case "task":
      openTask(draft, operation, batches);
      return undefined;
    case "timer":
      openTicket(draft, { ...common, on: "timer", dueAt: dueAtOf(draft.now, operation) });
      return undefined;
    case "event": {
      const { name, inbox } = operation;
      openTicket(draft, { ...common, on: "event", name, ...(inbox && { inbox }) });
      return undefined;
    }
    case "signal":
      openTicket(draft, { ...common, on: "signal", name: operation.name });
      return undefined;
    case "message": {
      const { name, key } = operation;
      if (isPairTaken(draft, { name, key })) {
        noteVisit(draft, "element-terminated", { element, occurrence: n });
        return taken(n, element, name, key);
      }
      openTicket(draft, { ...common, on: "message", name, key });
      return undefined;
    }
  }
}

const taken = (n: number, element: string, name: string, key: string): Recorded => ({
  n,
  element,
  outcome: {
    failure: {
      name: "CorrelationTaken",
      code: "CORRELATION_TAKEN",
      message: `Another instance of this workflow waits for the message ${JSON.stringify(name)} with the key ${JSON.stringify(key)}.`,
    },
  },
});

function dueAtOf(now: Instant, timer: Extract<Operation, { op: "timer" }>): Instant {
  if ("until" in timer) return instantFrom(timer.until);
  const duration = parseDuration(timer.after);
  if (!duration.ok) throw new Error(`A timer: ${duration.problem}`);
  return addDuration(now, duration.value);
}

// Many like tasks of one feed share one ticket.

/** The members of each batch, by the number of every member. */
type Batches = ReadonlyMap<number, readonly TaskOperation[]>;

const NO_BATCHES: Batches = new Map();

function batchesIn(operations: readonly Operation[]): Batches {
  if (operations.length <= MAX_MEMBERS_APART) return NO_BATCHES;
  const closed = new Set(operations.flatMap((it) => (it.op === "close" ? [it.n] : [])));
  const tasks = operations.filter(
    (it): it is TaskOperation => it.op === "task" && !closed.has(it.n),
  );
  const alike = Map.groupBy(tasks, ({ type, options }) => JSON.stringify([type, options]));
  const large = [...alike.values()].filter(({ length }) => length > MAX_MEMBERS_APART);
  return new Map(large.flatMap((members) => members.map(({ n }) => [n, members] as const)));
}

function openTask(draft: Draft, operation: TaskOperation, batches: Batches): void {
  const { n, type, options = {} } = operation;
  const { retry, timeout } = options;
  const members = batches.get(n);
  if (members && members[0]?.n !== n) return;
  const common = { ref: n, element: type, type, retries: attemptsOf(retry) };
  if (members) {
    const size = members.length;
    // Without a table of its own an item would be retried by the rules of a model: at once.
    openTicket(draft, { ...common, on: "family", size, taken: "", table: retry ?? {} });
  } else {
    openTicket(draft, { ...common, on: "task", attempt: 1 });
  }
  if (timeout === undefined) return;
  const dueAt = timeoutAt(timeout, draft.now);
  openTicket(draft, { on: "timer", ref: n, element: type, dueAt });
}

function withBatch(state: CodeState, operation: OpenedOperation, batches: Batches): CodeState {
  const members = batches.get(operation.n);
  if (members === undefined || members[0]?.n !== operation.n) return state;
  return { ...state, b: { ...state.b, [operation.n]: members.map(({ n }) => n) } };
}

/** The numbers of the operations that share the ticket with this `ref`. */
export const membersOf = ({ b = {} }: CodeState, ref: number): readonly number[] | undefined =>
  Object.hasOwn(b, ref) ? b[ref] : undefined;

/** The operations that a ticket stands for: one, or the members of a batch. */
export const operationsOf = (state: CodeState, { ref }: Ticket): readonly number[] =>
  membersOf(state, ref) ?? [ref];

/** The operation that a ticket stands for. */
export function numberOf(state: CodeState, ticket: Ticket): number {
  const member = ticket.on === "task" ? ticket.member : undefined;
  return member === undefined ? ticket.ref : (membersOf(state, ticket.ref)?.[member] ?? 0);
}

/** Closes whatever an operation has open, without an outcome. */
function disarm(draft: Draft, state: CodeState, n: number): CodeState {
  const ref = batchWith(state, n)?.ref ?? n;
  const ticket = draft.tickets.find((open) => open.ref === ref && !isDeadline(open));
  if (ticket) {
    noteVisit(draft, "element-terminated", { element: ticket.element, occurrence: n });
  }
  return closeOperation(draft, state, n);
}

/** Removes an operation with every ticket of its own; of a batch, its item. */
export function closeOperation(draft: Draft, state: CodeState, n: number): CodeState {
  const batch = batchWith(state, n);
  if (batch === undefined) {
    closeTickets(draft, (open) => open.ref === n && !isDeadline(open));
    return withoutOperation(state, n);
  }
  const { ref, members } = batch;
  closeItem(draft, ref, members.indexOf(n));
  const left = withoutOperation(state, n);
  const isOpen = draft.tickets.some((open) => isBatch(open) && open.ref === ref);
  return isOpen ? left : withoutBatch(left, ref);
}

/** The batch that an operation is an item of. */
function batchWith({ b = {} }: CodeState, n: number) {
  const found = Object.entries(b).find(([, members]) => members.includes(n));
  return found && { ref: Number(found[0]), members: found[1] };
}

function withoutBatch({ b, ...state }: CodeState, ref: number): CodeState {
  const { [ref]: _, ...others } = { ...b };
  return Object.keys(others).length === 0 ? state : { ...state, b: others };
}

/** The batch goes with its last item, and so does the timer of its timeout. */
function closeItem(draft: Draft, ref: number, member: number): void {
  const isIts = (open: Ticket): open is BatchTicket => isBatch(open) && open.ref === ref;
  for (const batch of draft.tickets.filter(isIts)) {
    for (const incident of failedItemsOf(draft, batch)) dropFailedItem(draft, incident, member);
    const left = withoutItem(batch, member);
    if (openIn(left) > 0 || failedItemsOf(draft, batch).length > 0) keepTicket(draft, left);
    else closeTickets(draft, (open) => open.ref === ref && !isDeadline(open));
  }
}

/** Incidents for items that could not be decided; the batch stays open for them. */
const failedItemsOf = ({ tickets }: Draft, { id }: BatchTicket): readonly FailedItems[] =>
  tickets.filter(holdsFailedItems).filter(({ members }) => members.family === id);

function dropFailedItem(draft: Draft, incident: FailedItems, member: number): void {
  const numbers = incident.members.numbers.filter((number) => number !== member);
  if (numbers.length === 0) closeTicket(draft, incident.id);
  else keepTicket(draft, { ...incident, members: { ...incident.members, numbers } });
}

/** After their incident was resolved the items run again. */
export function reopenItems(
  draft: Draft,
  { members }: FailedItems,
  retries: number | undefined,
): void {
  for (const batch of draft.tickets.filter(isBatch).filter(({ id }) => id === members.family)) {
    const taken = members.numbers.reduce(withoutBit, batch.taken);
    reopenTicket(draft, { ...batch, taken, ...(retries !== undefined && { retries }) });
  }
}

export const isDeadline = (ticket: Ticket): boolean =>
  ticket.on === "timer" && ticket.deadline === true;

/** A timer that an operation did not ask for itself is the timeout of its task, or of its batch. */
export const isTimeout = (state: CodeState, ticket: Ticket): boolean =>
  ticket.on === "timer" &&
  (operationAt(state, ticket.ref)?.[2] !== undefined || membersOf(state, ticket.ref) !== undefined);
