/**
 * History as text, since most of an instance's bytes are its history. An entry is capitals for its
 * type, then the place of its element among the definition's, then, after a dot, how many
 * milliseconds it came after the one before: `B3.1k` is the fourth element, entered 56 ms later.
 * Numbers are in base 36; zero milliseconds and no element are left out. `!` stands for an element
 * that the definition does not list and `*` for data: those lie, in this order, beside the text.
 *
 * 1. Types are numbered by their place in `TRAIL_TYPES`. `A` to `Y` are the first 25, each `Z` before
 *    one of these adds 25: there is room for every type to come.
 * 2. An occurrence follows the element after a colon, and is left out where it can be predicted:
 *    an entry has the number after the last one, and what follows at the same element is of the same
 *    visit. `~` says that there is none where one is predicted. Only elements that the definition
 *    lists predict, and only once a number stands in the text: so what format 4 wrote is read as it
 *    was meant.
 */
import type { Definition } from "../../definition/definition.ts";
import type { Json } from "../../definition/json.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import { entryOf, TRAIL_TYPES, type TrailEntry, type TrailType } from "../../kernel/trail.ts";
import { elementAt, elementOf, type Index, type Reference } from "./elements.ts";
import { unknownInside } from "./formats.ts";

export type TrailText = Readonly<{ t: string; u?: readonly Json[] }>;

/** Writes entries down; `from` is the instant that the first one is counted from. */
export function writeTrail(entries: readonly TrailEntry[], from: Instant, index: Index): TrailText {
  const beside: Json[] = [];
  const visits = newVisits();
  let last = from;
  let text = "";
  for (const { at, type, element, occurrence, data } of entries) {
    text += CODES[type];
    const place = element === undefined ? undefined : index.get(element);
    if (place !== undefined) text += digits(place);
    else if (element !== undefined) {
      text += "!";
      beside.push(element);
    }
    if (occurrence !== predict(visits, type, place)) {
      text += occurrence === undefined ? "~" : `:${digits(occurrence)}`;
    }
    note(visits, type, place, occurrence);
    if (at !== last) text += `.${digits(at - last)}`;
    last = at;
    if (data === undefined) continue;
    text += "*";
    beside.push(data);
  }
  return beside.length > 0 ? { t: text, u: beside } : { t: text };
}

/** The number of the first entry, the instant that it is counted from, and whose elements. */
type Beginning = Readonly<{ first: number; from: Instant; definition: Definition }>;

/** Reads entries back. */
export function readTrail(
  { t, u = [] }: TrailText,
  { first, from, definition }: Beginning,
): readonly TrailEntry[] {
  const entries: TrailEntry[] = [];
  const visits = newVisits();
  let at = from;
  let taken = 0;
  for (const [, code = "", where = "", visit, later, data] of t.matchAll(ENTRY)) {
    if (later !== undefined) at = instantFrom(at + Number.parseInt(later, 36));
    const type = typeOf(code);
    const place = where === "" || where === "!" ? undefined : Number.parseInt(where, 36);
    const element = where === "!" ? String(u[taken++]) : placed(place, definition);
    const occurrence = visit === undefined ? predict(visits, type, place) : numberIn(visit);
    note(visits, type, place, occurrence);
    const beside = data === "" ? undefined : (u[taken++] ?? null);
    const head = { seq: first + entries.length, at, type };
    entries.push(entryOf(head, { element, occurrence, data: beside }));
  }
  return entries;
}

/** How many entries a text has: one capital of each is none that may be repeated. */
export const countEntries = ({ t }: TrailText): number => t.match(/[A-Y]/g)?.length ?? 0;

/** The capitals of a type by its number, and the number back. */
export const codeOf = (type: number): string =>
  "Z".repeat(Math.floor(type / LETTERS)) + String.fromCharCode(FIRST_LETTER + (type % LETTERS));
export const numberOfCode = (code: string): number =>
  LETTERS * (code.length - 1) + code.charCodeAt(code.length - 1) - FIRST_LETTER;

const LETTERS = 25;
const FIRST_LETTER = "A".charCodeAt(0);
const ENTRY = /(Z*[A-Y])(!|[0-9a-z]*)(~|:[0-9a-z]+)?(?:\.(-?[0-9a-z]+))?(\*?)/g;

const CODES = Object.fromEntries(
  TRAIL_TYPES.map((type, number) => [type, codeOf(number)]),
) as Readonly<Record<TrailType, string>>;

const TYPES: ReadonlyMap<string, TrailType> = new Map(
  TRAIL_TYPES.map((type, number) => [codeOf(number), type]),
);

/** What this engine does not know it must not lose: a newer one has written it. */
function typeOf(code: string): TrailType {
  const type = TYPES.get(code);
  if (type === undefined) throw unknownInside(`an entry of type ${numberOfCode(code)} of history`);
  return type;
}

const numberIn = (visit: string): number | undefined =>
  visit === "~" ? undefined : Number.parseInt(visit.slice(1), 36);

const placed = (place: number | undefined, definition: Definition): string | undefined =>
  place === undefined ? undefined : elementAt(place, definition);

/** A number in base 36; small ones are known by heart, since every step writes many. */
const digits = (number: number): string => SMALL[number] ?? number.toString(36);
const SMALL = Array.from({ length: 36 ** 2 }, (_, number) => number.toString(36));

/** The number that the next visit is likely to have, and the visit that was written last. */
type Visits = { next: number | undefined; place: number; last: number | undefined };

const newVisits = (): Visits => ({ next: undefined, place: -1, last: undefined });

function predict(visits: Visits, type: TrailType, place: number | undefined): number | undefined {
  if (place === undefined) return undefined;
  if (type === "element-entered") return visits.next;
  return place === visits.place ? visits.last : undefined;
}

function note(
  visits: Visits,
  type: TrailType,
  place: number | undefined,
  occurrence: number | undefined,
): void {
  if (place === undefined || occurrence === undefined) return;
  if (type === "element-entered") visits.next = occurrence + 1;
  visits.place = place;
  visits.last = occurrence;
}

type EntryBefore = readonly [type: number, element: Reference, later: number, data?: Json];
export type ChunkBefore = Readonly<{ q: number; a: number; t: readonly EntryBefore[] }>;

/** Reads history of chunks of format 1: a list of entries. This engine no longer writes it. */
export function readTrailBefore(
  packed: readonly EntryBefore[],
  { first, from, definition }: Beginning,
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
