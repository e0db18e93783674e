import type { World } from "../world.ts";

/**
 * Lets those who change the same item of a store that one process owns go one after the other:
 * where all of them are here, losing to each other would be waste. Elsewhere versions decide.
 */
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

const kept = new WeakMap<World, Map<string, Promise<void>>>();

function turnsOf(world: World): Map<string, Promise<void>> {
  const turns = kept.get(world) ?? new Map<string, Promise<void>>();
  kept.set(world, turns);
  return turns;
}
