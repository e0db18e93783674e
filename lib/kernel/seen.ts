/**
 * A compact set of numbers that fills up from below.
 *
 * 1. All up to `low` are in it, and above that ranges of numbers, in order, never adjacent.
 * 2. A range that follows `low` without a gap becomes part of it.
 * 3. The number of ranges above `low` is limited. With one more, the lowest is dropped: `low` rises
 *    to its end, and what was missing below counts as seen.
 */
import { MAX_REMEMBERED_ABOVE } from "../definition/limits.ts";
import type { Run, Seen } from "./instance.ts";

/** The set that has nothing in it; numbers count from 1. */
export const NOTHING_SEEN: Seen = { low: 0, above: [] };

/** Whether the number is in the set. */
export function hasSeen({ low, above }: Seen, n: number): boolean {
  return n <= low || above.some(([first, last]) => first <= n && n <= last);
}

/** The set with this number in it. */
export function withSeen(seen: Seen = NOTHING_SEEN, n: number): Seen {
  if (hasSeen(seen, n)) return seen;
  const runs = joined([...seen.above, [n, n] as const].toSorted(([a], [b]) => a - b));
  const surplus = Math.max(0, runs.length - MAX_REMEMBERED_ABOVE);
  const low = runs[surplus - 1]?.[1] ?? seen.low;
  const above = runs.slice(surplus);
  const [next, ...others] = above;
  return next?.[0] === low + 1 ? { low: next[1], above: others } : { low, above };
}

/** Adjacent ranges become one. */
function joined(sorted: readonly Run[]): readonly Run[] {
  const runs: Run[] = [];
  for (const [first, last] of sorted) {
    const before = runs.at(-1);
    if (before && before[1] + 1 === first) runs[runs.length - 1] = [before[0], last];
    else runs.push([first, last]);
  }
  return runs;
}
