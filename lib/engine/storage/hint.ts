/** Hints are put alone and may be put again: a store that is busy is simply asked once more. */
import { MAX_TRIES_OF_PARKED } from "../../definition/limits.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Item } from "../../ports/store.ts";
import type { World } from "../world.ts";

/** The hint is there when this resolves; throws when the store stays busy. */
export async function putHint(world: Pick<World, "store" | "clock">, item: Item): Promise<void> {
  if (await tryPutHint(world, item)) return;
  throw new EngineError("engine/busy", {
    happened: "The store is too busy to take a write now",
    where: `${item.key.pk} / ${item.key.sk}`,
    fix: "Nothing is lost: try again in a second.",
    retryable: true,
  });
}

/** Whether the hint is there; false when the store stays busy. */
export async function tryPutHint(
  { store, clock }: Pick<World, "store" | "clock">,
  put: Item,
): Promise<boolean> {
  for (let tries = 0; tries < MAX_TRIES_OF_PARKED; tries++) {
    const outcome = await store.commit([{ put, when: "newer" }]);
    if (outcome.kind === "committed") return true;
    await clock.pause(outcome.kind === "busy" ? outcome.retryAfterMs : 5);
  }
  return false;
}
