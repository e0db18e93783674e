/**
 * Counts the deaths of a process that dies with the steps it takes: an expression that never ends, a
 * handler that needs more memory than there is. What was under way at a death is tried again later
 * and alone, and not at all when that has happened too often.
 */

/** Code of the user that is about to run: what a fact makes of an instance, or a task's handler. */
export type WatchedStep = Readonly<{
  instanceId: string;
  /** The same whenever the step is tried again. */
  name: string;
  /** A handler, which may run for long: it is watched only while it begins. */
  isTask?: true;
}>;

/** Whether a step may be taken now. */
export type Watched = Readonly<
  | { kind: "begun"; end(): void }
  | { kind: "later"; forMs: number }
  | { kind: "poisoned"; deaths: number }
>;

export interface StepWatch {
  /** Asked before each step; undefined: nothing has died, and nothing is counted. */
  begin(step: WatchedStep): Watched | undefined;
}
