import { createHash } from "node:crypto";
import { type Budget, fullBudget, type Given, type Lookup } from "../../definition/expression.ts";
import { MAX_WORK_PER_DECISION } from "../../definition/limits.ts";
import { MAX_BUILT_STRING, MAX_EVALUATION_STEPS, MAX_WARNINGS } from "./limits.ts";

/** A running evaluation: what it may read, what it may still spend, its warnings. */
export type Run = {
  readonly lookup: Lookup;
  readonly given: Given;
  readonly warnings: string[];
  /** Of this evaluation. */
  stepsLeft: number;
  /** Of all evaluations of one decision. */
  readonly budget: Budget;
  draws: number;
};

/** Names bound inside an expression, innermost first; variables come after the outermost. */
export type Scope = Readonly<{
  run: Run;
  names: Readonly<Record<string, unknown>> | undefined;
  outer: Scope | undefined;
}>;

/** Ends an evaluation: the message is the reported problem. */
export class EvaluationFailed extends Error {
  override readonly name = "EvaluationFailed";
}

/** Starts an evaluation: with its own steps, and the rest of the budget. */
export function startRun(lookup: Lookup, given: Given): Scope {
  const run: Run = {
    lookup,
    given,
    warnings: [],
    stepsLeft: MAX_EVALUATION_STEPS,
    budget: given.budget ?? fullBudget(),
    draws: 0,
  };
  return { run, names: undefined, outer: undefined };
}

/** The scope in which some more names are bound. */
export function within(outer: Scope, names: Readonly<Record<string, unknown>>): Scope {
  return { run: outer.run, names, outer };
}

/** The value of a name, or undefined when it is not bound here. */
export function find(scope: Scope, name: string): unknown {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
    if (at.names !== undefined && Object.hasOwn(at.names, name)) return at.names[name];
  }
  return scope.run.lookup(name);
}

/** Charges for work before it is done, so that no expression runs for ever. */
export function charge(run: Run, steps: number): void {
  run.stepsLeft -= steps;
  run.budget.work -= steps;
  if (run.budget.work < 0) {
    throw new EvaluationFailed(
      `the expressions of one step take more than ${MAX_WORK_PER_DECISION} steps together; loop over fewer entries`,
    );
  }
  if (run.stepsLeft < 0) {
    throw new EvaluationFailed(
      `it takes more than ${MAX_EVALUATION_STEPS} steps; loop over fewer items`,
    );
  }
}

/** Refuses to build a string that could not be stored. */
export function requireShort(length: number): void {
  if (length > MAX_BUILT_STRING) {
    throw new EvaluationFailed(`it builds a string of more than ${MAX_BUILT_STRING} characters`);
  }
}

/** Records why something is null, as a warning of the result. Returns null. */
export function warn(run: Run, message: string): null {
  if (run.warnings.length < MAX_WARNINGS && !run.warnings.includes(message)) {
    run.warnings.push(message);
  }
  return null;
}

/** The next 32 random bytes of this evaluation, the same for the same seed. */
export function draw(run: Run): Buffer {
  run.draws += 1;
  return createHash("sha256").update(`${run.given.seed}\n${run.draws}`).digest();
}
