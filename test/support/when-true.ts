// A rule for the settle pass, until a notation has conditions of its own.
import { demand } from "../../lib/kernel/graph/evaluate.ts";
import { push } from "../../lib/kernel/graph/run.ts";
import type { Settler } from "../../lib/kernel/graph/settle.ts";
import { lookupFrom } from "../../lib/kernel/graph/variables.ts";

/** Completes an element as soon as its FEEL condition holds, whatever it waits for. */
export function whenTrue(conditions: Readonly<Record<string, string>>): Settler {
  return async (run) => {
    for (const token of run.tokens.values()) {
      const text = conditions[token.node];
      if (text === undefined) continue;
      const of = { kind: "feel", text } as const;
      const holds = await demand(run, { kind: "boolean", of, lookup: lookupFrom(run, token) });
      if (holds) push(run, "complete", token.id);
    }
  };
}
