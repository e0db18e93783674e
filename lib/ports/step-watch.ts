/**
 * Counts the crashes of a process caused by the steps it runs: an expression that never ends, a
 * handler that needs more memory than there is. Steps that were running at a crash are retried
 * later and alone, and not at all after too many crashes.
 */

/** User code that is about to run: the decision of a fact, or a task's handler. */
export type WatchedStep = Readonly<{
  instanceId: string;
  /** The same on every retry of the step. */
  name: string;
  /** A handler, which may run long: it is watched only at its beginning. */
  isTask?: true;
}>;

/** Whether a step may run now. */
export type Watched = Readonly<
  | { kind: "begun"; end(): void }
  | { kind: "later"; forMs: number }
  | { kind: "poisoned"; deaths: number }
>;

export interface StepWatch {
  /** Called before each step; undefined: there was no crash, and nothing is counted. */
  begin(step: WatchedStep): Watched | undefined;
}
