/**
 * Formats that this engine still reads and no longer writes: instances of format 2, chunks of
 * format 1. It goes when the format after today's comes.
 */
import type { Definition } from "../definition/definition.ts";
import type { Json } from "../definition/json.ts";
import { type Instant, instantFrom } from "../definition/time/instant.ts";
import type { Stamp } from "../kernel/instance.ts";
import { TRAIL_TYPES, type TrailEntry } from "../kernel/trail.ts";
import { elementOf, type Reference } from "./elements.ts";

export type EntryBefore = readonly [type: number, element: Reference, later: number, data?: Json];
export type ChunkBefore = Readonly<{ q: number; a: number; t: readonly EntryBefore[] }>;
export type StampBefore = readonly [by: string, own: string | 0, until: number] | 0;

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

/** A stamp with its instant in full. */
export function stampBefore(packed: StampBefore): { stamp?: Stamp } {
  if (packed === 0) return {};
  const [by, own, until] = packed;
  return { stamp: { by, own: own === 0 ? null : own, until: instantFrom(until) } };
}
