import fc from "fast-check";
import { choiceSequence } from "./choices.ts";
import { type Setting, simulate } from "./run.ts";

/** A simpler sequence that still fails: fewer choices, and smaller ones. */
export async function shrink(
  setting: Setting,
  choices: readonly number[],
): Promise<readonly number[]> {
  const property = fc.asyncProperty(choiceSequence, async (tried) => {
    return (await simulate(setting, { choices: tried })).problem === undefined;
  });
  const result = await fc.check(property, { numRuns: 1, examples: [[[...choices]]] });
  return result.counterexample?.[0] ?? choices;
}
