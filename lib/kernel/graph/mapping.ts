/**
 * 1. Mappings run in order, and each sees the targets of those before it.
 * 2. They are written together at the end: when one fails, nothing is written.
 * 3. A nested input target builds a new object, whatever the surroundings have under that name; a
 *    nested output target changes its leaf and leaves the siblings as they are.
 */
import type { Computed, Lookup } from "../../definition/expression.ts";
import type { Mapping } from "../../definition/graph.ts";
import type { Json, Variables } from "../../definition/json.ts";
import { Refusal } from "../refusal.ts";
import { evaluate } from "./evaluate.ts";
import { type Run, writeLocals } from "./run.ts";
import type { Token } from "./state.ts";
import { isContext, lookupFrom, outputScope, propagate } from "./variables.ts";

/** Evaluates input mappings into local variables of the element. */
export async function mapInputs(run: Run, token: Token, inputs: readonly Mapping[]): Promise<void> {
  if (inputs.length === 0) return;
  writeLocals(run, token.id, await inputsFor(run, token, inputs));
}

/** The result of the input mappings of a token, which need not be in the tree yet. */
export function inputsFor(run: Run, token: Token, inputs: readonly Mapping[]): Promise<Variables> {
  return map(run, token, inputs, nothing);
}

/**
 * Evaluates output mappings and propagates them from the scope around the element; those of a
 * multi-instance item from the item itself, so that its local variables stay there.
 */
export async function mapOutputs(
  run: Run,
  token: Token,
  outputs: readonly Mapping[],
): Promise<void> {
  if (outputs.length === 0) return;
  const around = outputScope(run, token);
  propagate(run, around, await map(run, token, outputs, lookupFrom(run, around)));
}

async function map(
  run: Run,
  token: Token,
  mappings: readonly Mapping[],
  existing: Lookup,
): Promise<Variables> {
  const surroundings = lookupFrom(run, token);
  let mapped: Variables = {};
  const lookup: Lookup = (name) =>
    Object.hasOwn(mapped, name) ? mapped[name] : surroundings(name);
  for (const { source, target } of mappings) {
    const value = await valueFor(run, target, source, lookup);
    mapped = assigned(mapped, target, value, existing);
  }
  return mapped;
}

async function valueFor(run: Run, target: string, source: Computed, lookup: Lookup): Promise<Json> {
  const evaluation = await evaluate(run, source, lookup);
  if (evaluation.ok) return evaluation.value;
  throw new Refusal("IO_MAPPING_ERROR", `The mapping to "${target}" failed. ${evaluation.problem}`);
}

/** A copy of `into` with the leaf at the end of a dotted path set. */
function assigned(into: Variables, path: string, value: Json, existing: Lookup): Variables {
  const dot = path.indexOf(".");
  if (dot === -1) return { ...into, [path]: value };
  const head = path.slice(0, dot);
  const rest = path.slice(dot + 1);
  const inner = Object.hasOwn(into, head) ? into[head] : existing(head);
  return { ...into, [head]: assigned(isContext(inner) ? inner : {}, rest, value, nothing) };
}

const nothing: Lookup = () => undefined;
