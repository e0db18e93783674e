import { MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Item, Write } from "../../ports/store.ts";
import type { World } from "../world.ts";

/**
 * Puts an item where none is; gives the one that stands there then, ours or another's. One that has
 * had its time stands for nothing, though it may still be there.
 */
export async function putAbsent(world: Pick<World, "store" | "clock">, item: Item): Promise<Item> {
  let found: Item | undefined;
  for (let tries = 0; tries < MAX_TRIES_OF_DOOR; tries++) {
    const outcome = await world.store.commit([replacing(found, item)]);
    if (outcome.kind === "committed") return item;
    [found] = await world.store.get([item.key]);
    if (found && (found.expiresAt ?? Number.POSITIVE_INFINITY) > world.clock.now()) return found;
    await world.clock.pause(outcome.kind === "busy" ? outcome.retryAfterMs : 5);
  }
  throw new EngineError("engine/busy", {
    happened: "The store is too busy to take a write now",
    where: `${item.key.pk} / ${item.key.sk}`,
    fix: "Try again in a second, with the same id.",
    retryable: true,
  });
}

/** Puts an item in the place of what has had its time, or where none is. */
export const replacing = (found: Item | undefined, item: Item): Write =>
  found
    ? { put: { ...item, version: found.version + 1 }, when: { version: found.version } }
    : { put: item, when: "absent" };
