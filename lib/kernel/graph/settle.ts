/**
 * The settle pass decides what can be decided only when no token moves any more: whether a join can
 * still be reached, whether a condition holds by now.
 *
 * 1. It runs when no move is left, neither in this step nor for a continuation.
 * 2. A settler looks at the tokens and queues moves. They are made, and everything settles again,
 *    until no settler queues anything.
 * 3. These moves count like all others: an instance that never comes to rest is stopped by the
 *    step's limit.
 */
import type { Run } from "./run.ts";

/** One rule that is applied when an instance comes to rest. */
export type Settler = (run: Run) => Promise<void>;

/** Applies every rule once, if the instance is at rest; returns whether there are new moves. */
export async function settle(run: Run, settlers: readonly Settler[]): Promise<boolean> {
  if (!isAtRest(run)) return false;
  for (const settler of settlers) await settler(run);
  return run.queue.length > 0;
}

/** Moves left to a continuation keep the instance from resting, unless they were interrupted since. */
function isAtRest({ draft, queue, todo, tokens }: Run): boolean {
  return !draft.ended && queue.length === 0 && !todo.some(({ token }) => tokens.has(token));
}
