import type { World } from "../world.ts";
import { perWorld } from "./per-world.ts";

/**
 * Lets the writers of one item of a store that this process owns go one after the other: where all
 * of them are here, losing to each other would be waste. Elsewhere versions decide.
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

const turnsOf = perWorld(() => new Map<string, Promise<void>>());
