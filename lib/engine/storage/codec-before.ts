/**
 * What this engine still reads and no longer writes: chunks of format 1. Instances and chunks of the
 * formats between are read as today's are: those said less, in the same way.
 */
import type { Definition } from "../../definition/definition.ts";
import type { Json } from "../../definition/json.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import { TRAIL_TYPES, type TrailEntry } from "../../kernel/trail.ts";
import { elementOf, type Reference } from "./elements.ts";

type EntryBefore = readonly [type: number, element: Reference, later: number, data?: Json];
export type ChunkBefore = Readonly<{ q: number; a: number; t: readonly EntryBefore[] }>;

/** History as a list of entries. */
export function readTrailBefore(
  packed: readonly EntryBefore[],
  { first, from, definition }: Readonly<{ first: number; from: Instant; definition: Definition }>,
): readonly TrailEntry[] {
  let at = from;
  return packed.map(([type, element, later, data], position) => {
    at = instantFrom(at + later);
    return {
      seq: first + position,
      at,
      type: TRAIL_TYPES[type] ?? "continued",
      ...(element !== NO_ELEMENT && { element: elementOf(element, definition) }),
      ...(data !== undefined && { data }),
    };
  });
}

const NO_ELEMENT = -1;
