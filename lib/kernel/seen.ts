/**
 * A set of numbers that fills up from below, in little room.
 *
 * 1. All up to `low` are in it, and those above that are listed, in order.
 * 2. What follows `low` without a gap becomes part of it.
 * 3. Above `low` only so many are remembered. One more, and the smallest leaves: `low` rises to it,
 *    and what was missing below counts as seen.
 */
import { MAX_REMEMBERED_ABOVE } from "../definition/limits.ts";
import type { Seen } from "./instance.ts";

/** The set that has nothing in it; numbers count from 1. */
export const NOTHING_SEEN: Seen = { low: 0, above: [] };

/** Says whether the number is in the set. */
export function hasSeen({ low, above }: Seen, n: number): boolean {
  return n <= low || above.includes(n);
}

/** The set with this number in it. */
export function withSeen(seen: Seen = NOTHING_SEEN, n: number): Seen {
  if (hasSeen(seen, n)) return seen;
  const above = [...seen.above, n].toSorted((a, b) => a - b);
  const surplus = Math.max(0, above.length - MAX_REMEMBERED_ABOVE);
  return folded({ low: above[surplus - 1] ?? seen.low, above: above.slice(surplus) });
}

function folded({ low, above }: Seen): Seen {
  const gap = above.findIndex((n, at) => n !== low + at + 1);
  const count = gap === -1 ? above.length : gap;
  return { low: low + count, above: above.slice(count) };
}
