/** Hints are put alone and may be put again: a store that is busy is simply asked once more. */
import { MAX_TRIES_OF_PARKED } from "../../definition/limits.ts";
import type { Item, Key } from "../../ports/store.ts";
import type { World } from "../world.ts";
import { Again, again, type Busy, engineBusy, tryRepeatedly } from "./retrying.ts";

/** The hint is there when this resolves; throws when the store stays busy. */
export async function putHint(world: Pick<World, "store" | "clock">, item: Item): Promise<void> {
  if (!(await tryPutHint(world, item))) throw engineBusy(busyAt(item.key));
}

/** Whether the hint is there; false when the store stays busy. */
export async function tryPutHint(
  world: Pick<World, "store" | "clock">,
  put: Item,
): Promise<boolean> {
  const result = await tryRepeatedly(world, { tries: MAX_TRIES_OF_PARKED }, async () => {
    const outcome = await world.store.commit([{ put, when: "newer" }]);
    return outcome.kind === "committed" || again(outcome);
  });
  return !(result instanceof Again);
}

/** The store did not take a write of one item. */
export const busyAt = ({ pk, sk }: Key): Busy => ({
  happened: "The store is too busy to take a write now",
  where: `${pk} / ${sk}`,
  fix: "Nothing is lost: try again in a second, with the same id.",
});
