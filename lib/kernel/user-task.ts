/**
 * Tasks that people do.
 *
 * 1. A task changes hands under its ticket, one turn after the other. What was asked for in an
 *    earlier turn is late, even if the task is free again: a claim is never taken twice.
 * 2. Whoever decides a turn owes the rows by which the task is found: its stamp is dropped.
 * 3. Attempts are for machines. A person who gives up says so once.
 */
import { type Draft, note, reopenTicket } from "./draft.ts";
import type { TaskAssigned } from "./fact.ts";
import type { TaskTicket, Ticket } from "./instance.ts";

/** Says whether people alone do the task. */
export const isUserTask = ({ person }: TaskTicket): boolean =>
  person !== undefined && !person.asJob;

/** Which turn a task is in; undefined where no person does it. */
export const turnOf = ({ person }: TaskTicket): number | undefined => person && (person.turn ?? 0);

/** Says whether the task can change hands by this fact. */
export const isItsTurn = (ticket: Ticket, { turn }: TaskAssigned): boolean =>
  ticket.on === "task" && turnOf(ticket) === turn;

/** Gives the task to somebody, or to nobody. */
export function giveTo(draft: Draft, ticket: TaskTicket, { assignee, turn }: TaskAssigned): void {
  note(draft, "task-assigned", ticket.element, { assignee: assignee ?? null });
  const { assignee: _, ...person } = { ...ticket.person };
  const taken = assignee === undefined ? person : { ...person, assignee };
  reopenTicket(draft, { ...ticket, person: { ...taken, turn: turn + 1 } });
}
