import type { Key } from "../../ports/store.ts";
import { instancePk, LEFT } from "../storage/keys.ts";
import { removeBlobOf } from "../storage/values.ts";
import type { World } from "../world.ts";

/** Removes what has left an instance, at once. Blobs go before the items that name them: who dies
 *  in between finds them again. */
export async function removeLeft(world: World, instanceId: string): Promise<void> {
  const pk = instancePk(world.settings.tenant, instanceId);
  for (;;) {
    const { items } = await world.store.scan(pk, { ...LEFT, limit: 100 });
    if (items.length === 0) return;
    for (const item of items) {
      await removeBlobOf(world, instanceId, item);
      await remove(world, item.key);
    }
  }
}

/** For certain, where tidying would be a best effort; what is gone already is a conflict. */
async function remove(world: World, key: Key): Promise<void> {
  const outcome = await world.store.commit([{ remove: key, when: "exists" }]);
  if (outcome.kind === "busy") await world.clock.pause(outcome.retryAfterMs);
}
