/**
 * User tasks: claiming and assigning.
 *
 * 1. Each assignment begins a new turn of the ticket. A request from an earlier turn is late, even
 *    if the task is unassigned again: a claim is never applied twice.
 * 2. The trigger that decides an assignment owes the rows that list the task: the lease is dropped.
 * 3. A user task has no retries: a failure that a person reports is final.
 */
import { type Draft, note, reopenTicket } from "./draft.ts";
import type { TaskAssigned } from "./fact.ts";
import type { TaskTicket, Ticket } from "./instance.ts";

/** Whether only a person completes the task, and no worker. */
export const isUserTask = ({ person }: TaskTicket): boolean =>
  person !== undefined && !person.asJob;

/** The current turn of a user task; undefined for other tasks. */
export const turnOf = ({ person }: TaskTicket): number | undefined => person && (person.turn ?? 0);

/** Whether the fact is for the current turn of the task. */
export const isItsTurn = (ticket: Ticket, { turn }: TaskAssigned): boolean =>
  ticket.on === "task" && turnOf(ticket) === turn;

/** Assigns the task; without an assignee, unassigns it. */
export function assignTo(draft: Draft, ticket: TaskTicket, { assignee, turn }: TaskAssigned): void {
  note(draft, "task-assigned", ticket.element, { assignee: assignee ?? null });
  const { assignee: _, ...person } = { ...ticket.person };
  const taken = assignee === undefined ? person : { ...person, assignee };
  reopenTicket(draft, { ...ticket, person: { ...taken, turn: turn + 1 } });
}
