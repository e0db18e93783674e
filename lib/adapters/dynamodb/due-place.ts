// The place of an item in the due index: in the partition of its slice, by the minute of its
// lookAt, then by a digest of its key. The key itself could be longer than an index allows; the
// digest keeps places distinct and in one order over all slices, so one place is a cursor for them
// all.

import { createHash } from "node:crypto";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { Key, Page, Slice } from "../../ports/store.ts";
import { sliceOf, storeLimits } from "../../ports/store-rules.ts";

/** The index partition of a partition of the table. */
export function duePartition(pk: string): string {
  return partitionOf(sliceOf(pk));
}

/** The index partitions that make up a slice. */
export function duePartitions({ index, of }: Slice): readonly string[] {
  return Array.from({ length: storeLimits.slices / of }, (_, n) => partitionOf(index + n * of));
}

/** The place of an item in its partition; all places are of one length. */
export function duePlace({ pk, sk }: Key, lookAt: Instant): string {
  const digest = createHash("sha256").update(`${pk}\0${sk}`).digest("base64url");
  return `${minuteText(lookAt)}#${digest.slice(0, DIGEST_LENGTH)}`;
}

/**
 * The bounds of the places that are due by `until`, to the minute: from the minute of `from` on,
 * and after the place `after`; "nowhere" when that is later. No place is as short as a minute
 * alone, or as long as the successor of a place, so no bound is a place itself.
 */
export function dueBounds({ until, from, after }: DueRange): "nowhere" | DueBounds {
  const to = minuteText(until, 1);
  const starts = [
    ...(from === undefined ? [] : [minuteText(from)]),
    ...(after === undefined ? [] : [`${after}!`]),
  ];
  const start = starts.toSorted(byText).at(-1);
  if (start === undefined) return { to };
  return start < to ? { from: start, to } : "nowhere";
}

type DueRange = Readonly<{
  until: Instant;
  from?: Instant | undefined;
  after?: string | undefined;
}>;
type DueBounds = Readonly<{ from?: string; to: string }>;

/** The rows read of one index partition, in order; `more` when there are further ones. */
export type DuePart = Readonly<{ rows: readonly DueRow[]; more: boolean }>;
export type DueRow = Readonly<{ place: string; key: Key }>;

/**
 * The rows of all parts in one order, at most `limit`; `next` is the place to continue after. A
 * part that was not read to its end hides what follows, so no row after its last one is returned
 * yet.
 */
export function mergeDue(parts: readonly DuePart[], limit: number): Page<Key> {
  const known = parts
    .filter(({ more }) => more)
    .map(({ rows }) => rows.at(-1)?.place ?? "")
    .toSorted(byText)[0];
  const rows = parts
    .flatMap((part) => part.rows)
    .filter(({ place }) => known === undefined || place <= known)
    .toSorted((a, b) => byText(a.place, b.place));
  const page = rows.slice(0, limit);
  const isWhole = known === undefined && page.length === rows.length;
  const last = page.at(-1)?.place;
  const items = page.map(({ key }) => key);
  return isWhole || last === undefined ? { items } : { items, next: last };
}

const DIGEST_LENGTH = 16;
const MINUTE_MS = 60_000;
/** Minutes from the first instant there is, so that none is negative: seven digits hold the last. */
const FIRST_MINUTE = Math.floor(instantFrom(Number.NEGATIVE_INFINITY) / MINUTE_MS);
const MINUTE_LENGTH = 7;

function partitionOf(slice: number): string {
  return `A#${slice}`;
}

function minuteText(instant: Instant, later = 0): string {
  const minute = Math.floor(instant / MINUTE_MS) - FIRST_MINUTE + later;
  return minute.toString(36).padStart(MINUTE_LENGTH, "0");
}

/** Places are ASCII, whose order is the same in JavaScript and in UTF-8. */
function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
