/**
 * History as text, since most of an instance's bytes are its history. An entry is a capital letter
 * for its type, then the place of its element among the definition's, then, after a dot, how many
 * milliseconds it came after the one before: `B3.1k` is the fourth element, entered 56 ms later.
 * Numbers are in base 36; zero milliseconds and no element are left out. `!` stands for an element
 * that the definition does not list and `*` for data: those lie, in this order, beside the text.
 */
import type { Definition } from "../definition/definition.ts";
import type { Json } from "../definition/json.ts";
import { type Instant, instantFrom } from "../definition/time/instant.ts";
import { TRAIL_TYPES, type TrailEntry } from "../kernel/trail.ts";
import { elementAt, type Index } from "./elements.ts";

export type TrailText = Readonly<{ t: string; u?: readonly Json[] }>;

/** Writes entries down; `from` is the instant that the first one is counted from. */
export function writeTrail(entries: readonly TrailEntry[], from: Instant, index: Index): TrailText {
  const beside: Json[] = [];
  let last = from;
  let text = "";
  for (const { at, type, element, data } of entries) {
    text += letterOf(type);
    const place = element === undefined ? undefined : index.get(element);
    if (place !== undefined) text += place.toString(36);
    else if (element !== undefined) {
      text += "!";
      beside.push(element);
    }
    if (at !== last) text += `.${(at - last).toString(36)}`;
    last = at;
    if (data === undefined) continue;
    text += "*";
    beside.push(data);
  }
  return beside.length > 0 ? { t: text, u: beside } : { t: text };
}

/** Reads entries back, the first of which has this number. */
export function readTrail(
  { t, u = [] }: TrailText,
  { first, from, definition }: Readonly<{ first: number; from: Instant; definition: Definition }>,
): readonly TrailEntry[] {
  const entries: TrailEntry[] = [];
  let at = from;
  let taken = 0;
  for (const [, letter = "", place = "", later = "0", data] of t.matchAll(ENTRY)) {
    at = instantFrom(at + Number.parseInt(later, 36));
    const element = place === "!" ? u[taken++] : placed(place, definition);
    entries.push({
      seq: first + entries.length,
      at,
      type: TRAIL_TYPES[letter.charCodeAt(0) - FIRST_LETTER] ?? "continued",
      ...(typeof element === "string" && { element }),
      ...(data !== "" && { data: u[taken++] ?? null }),
    });
  }
  return entries;
}

/** How many entries a text has: each begins with its capital, and nothing else is one. */
export const countEntries = ({ t }: TrailText): number => t.match(/[A-Z]/g)?.length ?? 0;

const ENTRY = /([A-Z])(!|[0-9a-z]*)(?:\.(-?[0-9a-z]+))?(\*?)/g;
const FIRST_LETTER = "A".charCodeAt(0);

const letterOf = (type: TrailEntry["type"]): string =>
  String.fromCharCode(FIRST_LETTER + TRAIL_TYPES.indexOf(type));

const placed = (place: string, definition: Definition): string | undefined =>
  place === "" ? undefined : elementAt(Number.parseInt(place, 36), definition);
