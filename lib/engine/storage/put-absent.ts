import { MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import type { Item, Write } from "../../ports/store.ts";
import type { World } from "../world.ts";
import { busyAt } from "./hint.ts";
import { again, retrying } from "./retrying.ts";

/**
 * Puts an item where none is; gives the item that stands there then, this one or another writer's.
 * An expired item counts as absent, though the store may still have it.
 */
export function putAbsent(world: Pick<World, "store" | "clock">, item: Item): Promise<Item> {
  let found: Item | undefined;
  const busy = () => busyAt(item.key);
  return retrying(world, { tries: MAX_TRIES_OF_DOOR, busy }, async () => {
    const outcome = await world.store.commit([replacing(found, item)]);
    if (outcome.kind === "committed") return item;
    [found] = await world.store.get([item.key]);
    const lasts = found && (found.expiresAt ?? Number.POSITIVE_INFINITY) > world.clock.now();
    return found && lasts ? found : again(outcome);
  });
}

/** Puts an item in the place of an expired one, or where none is. */
export const replacing = (found: Item | undefined, item: Item): Write =>
  found
    ? { put: { ...item, version: found.version + 1 }, when: { version: found.version } }
    : { put: item, when: "absent" };
