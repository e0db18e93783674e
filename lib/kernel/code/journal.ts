/**
 * Outcomes as the journal has them: `[element, value]`, or `[element, failure, 1]`. The element is
 * the operation's fingerprint: its place among the definition's elements, or its name.
 */
import type { Json } from "../../definition/json.ts";
import type { Done, Outcome } from "../../definition/sandbox.ts";
import type { JournalEntry } from "../trail.ts";

/** An outcome, with the element whose outcome it is. */
export type Recorded = Readonly<{ n: number; element: string; outcome: Outcome }>;

/** The elements of a definition: by name, and by place. */
export type Elements = Readonly<{ places: ReadonlyMap<string, number>; names: readonly string[] }>;

export const elementsOf = (names: readonly string[]): Elements => ({
  names,
  places: new Map(names.map((name, place) => [name, place])),
});

/** What the journal says of an outcome. */
export function written({ places }: Elements, { element, outcome }: Recorded): Json {
  const fingerprint = places.get(element) ?? element;
  return "failure" in outcome ? [fingerprint, outcome.failure, 1] : [fingerprint, outcome.value];
}

/** Reads an entry; undefined when it is damaged. */
export function read({ names }: Elements, [n, , outcome]: JournalEntry): Recorded | undefined {
  if (!Array.isArray(outcome)) return undefined;
  const [fingerprint, value, failed] = outcome as readonly Json[];
  const element = typeof fingerprint === "number" ? names[fingerprint] : fingerprint;
  if (typeof element !== "string" || value === undefined) return undefined;
  return { n, element, outcome: failed === 1 ? { failure: value } : { value } };
}

export const doneOf = ({ n, outcome }: Recorded): Done => ({ n, ...outcome });
