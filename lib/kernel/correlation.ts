/**
 * A message finds the one wait that its key names, so per process only one wait may be open for a
 * pair of name and key, in this instance or in any other.
 */
import type { Draft } from "./draft.ts";
import type { MessageTicket } from "./instance.ts";
import { Refusal } from "./refusal.ts";

/** What a message is found by. */
export type Pair = Pick<MessageTicket, "name" | "key">;

/** The code of the business error that a second wait for a pair throws. */
export const CORRELATION_TAKEN = "correlation-taken";

/** Whether another wait is already open for the pair; the wait of this `id` does not count. */
export function isPairTaken(draft: Draft, { name, key, id }: Pair & { id?: string }): boolean {
  const isOpen = draft.tickets.some(
    (open) => open.on === "message" && open.name === name && open.key === key && open.id !== id,
  );
  return isOpen || draft.isTaken(name, key);
}

/** What is taken, and what to do about it. */
export function takenMessage({ before }: Draft, { name, key }: Pair): string {
  const pair = `the message "${name}" ${key === "" ? "without a key" : `with the key "${key}"`}`;
  return (
    `Another instance or branch of the process "${before.definition.id}" already waits for ${pair}. ` +
    "Let that wait end or cancel it, or give this one another key, then resolve this."
  );
}

/** Refuses a wait for a pair that is taken, where no business error can be thrown. */
export function takenRefusal(draft: Draft, pair: Pair): Refusal {
  return new Refusal("UNHANDLED_ERROR_EVENT", takenMessage(draft, pair));
}
