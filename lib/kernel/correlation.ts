/**
 * A message finds the one wait that its key names, so of one process only one wait may stand for a
 * pair of name and key: in this instance or in any other.
 */
import type { Draft } from "./draft.ts";
import type { MessageTicket } from "./instance.ts";
import { Refusal } from "./refusal.ts";

/** What a message is found by. */
export type Pair = Pick<MessageTicket, "name" | "key">;

/** The code of the business error that a second wait for a pair meets. */
export const CORRELATION_TAKEN = "correlation-taken";

/** Says whether somebody else already waits for the pair; a wait that stands itself does not count. */
export function isPairTaken(draft: Draft, { name, key, id }: Pair & { id?: string }): boolean {
  const isOpen = draft.tickets.some(
    (open) => open.on === "message" && open.name === name && open.key === key && open.id !== id,
  );
  return isOpen || draft.isTaken(name, key);
}

/** Says what is taken, and what to do about it. */
export function takenMessage({ before }: Draft, { name, key }: Pair): string {
  const pair = `the message "${name}" ${key === "" ? "without a key" : `with the key "${key}"`}`;
  return (
    `Another instance or branch of the process "${before.definition.id}" already waits for ${pair}. ` +
    "Let that wait end or cancel it, or give this one another key, then resolve this."
  );
}

/** Stops a wait that cannot stand beside another, where no business error can be thrown. */
export function takenRefusal(draft: Draft, pair: Pair): Refusal {
  return new Refusal("UNHANDLED_ERROR_EVENT", takenMessage(draft, pair));
}
