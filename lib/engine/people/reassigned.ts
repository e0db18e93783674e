import type { TaskTicket } from "../../kernel/instance.ts";
import { openTask } from "../owed.ts";
import type { Plan } from "../plan.ts";

/**
 * Whether a commit has only given the task to another person. Workers find it where it was, and one
 * of them may have it: a row that is put for it again says so.
 */
export function isReassigned(
  { before }: Pick<Plan, "before">,
  { id, person, attempt }: TaskTicket,
): boolean {
  const earlier = openTask(before, id);
  return earlier?.attempt === attempt && earlier.person?.turn !== person?.turn;
}
