import {
  type Computed,
  type Evaluation,
  evaluateComputed,
  type Lookup,
  type ResultKinds,
  resultOf,
} from "../../definition/expression.ts";
import type { Json } from "../../definition/json.ts";
import { Refusal } from "../refusal.ts";
import type { Run } from "./run.ts";

/** Every evaluation of a graph goes through here: the one place where the runner awaits. */
export async function evaluate(run: Run, computed: Computed, lookup: Lookup): Promise<Evaluation> {
  run.evaluations += 1;
  const { before, budget, expressions, now } = run.draft;
  // Decisions of one commit share the seed; the position in the trail makes their draws differ.
  const seed = `${run.draft.seed}.${before.trail.next}.${run.evaluations}`;
  return evaluateComputed(computed, expressions, lookup, { now, seed, budget });
}

/** The value of the expression; throws a refusal that says why there is none. */
export async function valueFrom(run: Run, computed: Computed, lookup: Lookup): Promise<Json> {
  const evaluation = await evaluate(run, computed, lookup);
  if (evaluation.ok) return evaluation.value;
  throw new Refusal("EXTRACT_VALUE_ERROR", evaluation.problem);
}

/** A value of the kind that its place needs; throws a refusal that says what it got instead. */
export async function demand<K extends keyof ResultKinds>(
  run: Run,
  { kind, of, lookup }: Readonly<{ kind: K; of: Computed; lookup: Lookup }>,
): Promise<ResultKinds[K]> {
  const text = of.kind === "static" ? JSON.stringify(of.value) : of.text;
  const result = resultOf(kind, text, await evaluate(run, of, lookup));
  if (result.ok) return result.value;
  throw new Refusal("EXTRACT_VALUE_ERROR", result.problem);
}
