/** What has left an instance for items of its own: its history, its values, claims of batch items. */
import { MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import type { Instance } from "../../kernel/instance.ts";
import { expireItem, expiryOf, removeItem, scanAll } from "../storage/items.ts";
import { instancePk, LEFT } from "../storage/keys.ts";
import { again, retrying } from "../storage/retrying.ts";
import { expireValue, removeBlobOf } from "../storage/values.ts";
import type { World } from "../world.ts";
import { expireKeyRows } from "./key-rows.ts";

/** What has left an ended instance lives as long as it does; for a live one nothing is done. */
export async function expireLeft(world: World, instance: Instance): Promise<void> {
  const expiresAt = expiryOf(world, instance);
  if (expiresAt === undefined) return;
  for await (const item of leftBy(world, instance.id)) {
    if (item.expiresAt !== undefined) continue;
    // Its blob first: an item that expires says that everything of it does.
    await expireValue(world, instance.id, item);
    await expireItem(world, item, expiresAt);
  }
  await expireKeyRows(world, instance);
}

/**
 * Removes it at once, until nothing is found. Blobs go before the items that name them: a process
 * that dies in between leaves what the next one finds them by.
 */
export async function removeLeft(world: World, instanceId: string): Promise<void> {
  const where = `instance ${instanceId}`;
  await retrying(world, { tries: MAX_TRIES_OF_DOOR, where }, async () => {
    let isGone = true;
    for await (const item of leftBy(world, instanceId)) {
      isGone = false;
      await removeBlobOf(world, instanceId, item);
      await removeItem(world, item.key);
    }
    return isGone || again();
  });
}

const leftBy = ({ store, settings }: World, instanceId: string) =>
  scanAll(store, instancePk(settings.tenant, instanceId), { ...LEFT, limit: 100 });
