import { feelLanguage } from "../../../lib/adapters/feelin/feel-expressions.ts";
import { type Evaluation, type Given, lookupIn } from "../../../lib/definition/expression.ts";
import type { Json, Variables } from "../../../lib/definition/json.ts";

/** One engine for all tests: what is compiled once must serve every variable set. */
export const feel = feelLanguage();

/** Friday, 2 January 2026, three in the morning. */
export const given: Given = { now: Date.UTC(2026, 0, 2, 3, 4, 5), seed: "seed" };

/** Evaluates a text with these variables. */
export function evaluated(text: string, variables: Variables = {}): Evaluation {
  return feel.evaluate(text, lookupIn(variables), given);
}

/** The value of a text that must evaluate. */
export function feelValue(text: string, variables: Variables = {}): Json {
  const evaluation = evaluated(text, variables);
  if (!evaluation.ok) throw new Error(evaluation.problem);
  return evaluation.value;
}

/** The problem of a text that must not evaluate. */
export function problemOf(text: string, variables: Variables = {}): string {
  const evaluation = evaluated(text, variables);
  if (evaluation.ok) throw new Error(`\`${text}\` gave ${JSON.stringify(evaluation.value)}.`);
  return evaluation.problem;
}
