/** What a process keeps beside its world; callers that take turns; work done some at a time. */
import { ROWS_AT_ONCE } from "../../definition/limits.ts";
import type { World } from "../world.ts";

/** What this process keeps beside each world, such as a cache; it goes with the world. */
export function perWorld<T>(make: () => T): (world: World) => T {
  const kept = new WeakMap<World, T>();
  return (world) => {
    const known = kept.get(world) ?? make();
    kept.set(world, known);
    return known;
  };
}

/** Remembers a value; a memory that is full is emptied first. */
export function rememberIn<T>(memory: Map<string, T>, name: string, value: T): void {
  if (memory.size >= MAX_REMEMBERED) memory.clear();
  memory.set(name, value);
}

const MAX_REMEMBERED = 10_000;

/** Where this process owns the store, writers of one item take turns; elsewhere versions decide. */
export function inTurn<T>(world: World, name: string, work: () => Promise<T>): Promise<T> {
  if (!world.settings.host.ownsStore) return work();
  const turns = turnsOf(world);
  const mine = (turns.get(name) ?? Promise.resolve()).then(work);
  const over = mine.then(nothing, nothing).then(() => {
    if (turns.get(name) === over) turns.delete(name);
  });
  turns.set(name, over);
  return mine;
}

const nothing = (): void => {};

const turnsOf = perWorld(() => new Map<string, Promise<void>>());

/** Does the same for many, some at a time: a store that groups commits flushes these once. */
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
