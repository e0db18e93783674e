/** Runs of workflows in code that come near their limit of operations: a warning while there is time. */
import { MANY_OUTCOMES_PER_RUN, MAX_OPERATIONS_PER_RUN } from "../../definition/limits.ts";
import type { Instance } from "../../kernel/instance.ts";

/** What to say about a live instance whose run has become long; undefined while it has not. */
export function longRunWarning(instance: Instance): string | undefined {
  const outcomes = outcomesOf(instance);
  if (instance.status !== "live" || outcomes < MANY_OUTCOMES_PER_RUN) return undefined;
  return `The journal of this run has ${outcomes} operations; with more than ${MAX_OPERATIONS_PER_RUN - 1} the run stops with an incident. Divide the work among several instances.`;
}

/** The same in the step that made the run long, and in no other. */
export const newLongRunWarning = (instance: Instance, before: Instance): string | undefined =>
  outcomesOf(before) < MANY_OUTCOMES_PER_RUN ? longRunWarning(instance) : undefined;

const outcomesOf = ({ journal }: Instance): number => (journal?.next ?? 1) - 1;
