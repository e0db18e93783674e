import { MAX_TRIES_OF_DOOR } from "../definition/limits.ts";
import { EngineError } from "../ports/engine-error.ts";
import type { Item } from "../ports/store.ts";
import type { World } from "./world.ts";

/** Puts an item where none is; gives the one that stands there then, ours or another's. */
export async function putAbsent(world: Pick<World, "store" | "clock">, item: Item): Promise<Item> {
  for (let tries = 0; tries < MAX_TRIES_OF_DOOR; tries++) {
    const outcome = await world.store.commit([{ put: item, when: "absent" }]);
    if (outcome.kind === "committed") return item;
    if (outcome.kind === "conflict") {
      const [refused] = outcome.current;
      if (refused?.ok === false && refused.item) return refused.item;
    }
    if (outcome.kind === "unknown") {
      const [found] = await world.store.get([item.key]);
      if (found) return found;
    }
    await world.clock.pause(outcome.kind === "busy" ? outcome.retryAfterMs : 5);
  }
  throw new EngineError("engine/busy", {
    happened: "The store is too busy to take a write now",
    where: `${item.key.pk} / ${item.key.sk}`,
    fix: "Try again in a second, with the same id.",
    retryable: true,
  });
}
