import { ROWS_AT_ONCE } from "../../definition/limits.ts";

/**
 * Does the same for many, some of them at once, and the next when these are done: a store that
 * commits in groups writes for all of them with one flush, and another one side by side.
 */
export async function someAtOnce<T, R>(
  things: readonly T[],
  work: (thing: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  for (let from = 0; from < things.length; from += ROWS_AT_ONCE) {
    results.push(...(await Promise.all(things.slice(from, from + ROWS_AT_ONCE).map(work))));
  }
  return results;
}
