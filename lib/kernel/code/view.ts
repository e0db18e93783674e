/** What an instance has open, in operations, and what others see of it. */
import { variablesIn } from "../../definition/json.ts";
import type { Site } from "../../definition/sandbox.ts";
import { isBatch, openIn as openItemsIn } from "../batch.ts";
import { type Draft, noteVisit } from "../draft.ts";
import { holdsFailedItems } from "../failed-items.ts";
import type { Instance, TaskTicket, Ticket } from "../instance.ts";
import type { RunnerView, TaskInput } from "../runner.ts";
import { isDeadline, isTimeout, numberOf, operationsOf } from "./open-operations.ts";
import { type CodeState, operationAt, readState } from "./state.ts";

/** The input of a task. */
export function taskInput(state: CodeState, ticket: TaskTicket): TaskInput {
  const [, , input = null] = operationAt(state, numberOf(state, ticket)) ?? [];
  return { variables: variablesIn(input), input, headers: {} };
}

/** What readers see. */
export function viewOf(instance: Instance): RunnerView {
  const state = readState(instance.state);
  // JSON has no undefined, and what shows an input is a workflow in code.
  const { i: input = null } = state;
  return {
    variables: variablesIn(input),
    input,
    sites: new Map(instance.tickets.flatMap((ticket) => siteOf(state, ticket))),
    tokens: [...Map.groupBy(openIn(instance), ({ element }) => element)].map(([element, all]) => ({
      element,
      count: countAll(all),
    })),
  };
}

/** Where a ticket was asked for, by its `ref`; of a batch, its first item that is open. */
function siteOf(state: CodeState, ticket: Ticket): readonly (readonly [number, Site])[] {
  const all = operationsOf(state, ticket).map((n) => operationAt(state, n));
  const [, site = 0] = all.find((open) => open !== undefined) ?? [];
  return site === 0 ? [] : [[ticket.ref, site]];
}

/** What operations have open: the deadline is not theirs, and a timeout stands for no operation. */
export function openIn({ state, tickets }: Pick<Instance, "state" | "tickets">): readonly Ticket[] {
  const parsed = readState(state);
  return tickets.filter((open) => !isDeadline(open) && !isTimeout(parsed, open));
}

/** History tells which operations are cut short; a timeout is told with its task. */
export function noteTerminated(draft: Draft, cut: readonly Ticket[]): void {
  const state = readState(draft.state);
  for (const [n] of state.o) {
    const ticket = cut.find((open) => operationsOf(state, open).includes(n));
    if (ticket) noteVisit(draft, "element-terminated", { element: ticket.element, occurrence: n });
  }
}

/** How many operations these tickets stand for. */
export const countAll = (tickets: readonly Ticket[]): number =>
  tickets.reduce((count, ticket) => count + countOf(ticket), 0);

/** How many operations a ticket stands for. */
function countOf(ticket: Ticket): number {
  if (isBatch(ticket)) return openItemsIn(ticket);
  return holdsFailedItems(ticket) ? ticket.members.numbers.length : 1;
}
