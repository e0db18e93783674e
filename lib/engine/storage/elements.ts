/** Elements of a definition by their place in it: stored state names them by that. */
import type { Definition } from "../../definition/definition.ts";

export type Index = ReadonlyMap<string, number>;

/** The place of each element. */
export function indexOf(definition: Definition): Index {
  let index = indexes.get(definition);
  if (index === undefined) {
    index = new Map(definition.elements.map((element, place) => [element, place]));
    indexes.set(definition, index);
  }
  return index;
}

const indexes = new WeakMap<Definition, Index>();

export const elementAt = (place: number, definition: Definition): string =>
  definition.elements[place] ?? `#${place}`;

/** A place, or the id itself when it is not among the definition's elements. */
export type Reference = number | string;

export const referenceTo = (element: string, index: Index): Reference =>
  index.get(element) ?? element;

export const elementOf = (reference: Reference, definition: Definition): string =>
  typeof reference === "string" ? reference : elementAt(reference, definition);

/** References in order, runs of neighbours drawn together: `1-9.c`; a list where ids are among them. */
export function writeReferences(references: readonly Reference[]): string | readonly Reference[] {
  if (!references.every((reference) => typeof reference === "number")) return references;
  const runs: [first: number, last: number][] = [];
  for (const place of references) {
    const run = runs.at(-1);
    if (run && run[1] + 1 === place) run[1] = place;
    else runs.push([place, place]);
  }
  return runs
    .map(([first, last]) =>
      first === last ? first.toString(36) : `${first.toString(36)}-${last.toString(36)}`,
    )
    .join(".");
}

export function readReferences(written: string | readonly Reference[]): readonly Reference[] {
  if (typeof written !== "string") return written;
  if (written === "") return [];
  return written.split(".").flatMap((run) => {
    const [first = 0, last = first] = run.split("-").map((text) => Number.parseInt(text, 36));
    return Array.from({ length: last - first + 1 }, (_, n) => first + n);
  });
}
