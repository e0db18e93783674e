/** Items that go with their instance, for certain: tidying is only a best effort. */
import { MAX_TRIES_OF_DOOR, MAX_TRIES_OF_PARKED } from "../../definition/limits.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { Instance } from "../../kernel/instance.ts";
import type { Item, Key } from "../../ports/store.ts";
import { again, type Busy, retrying } from "../storage/retrying.ts";
import type { World } from "../world.ts";

/** When an ended instance goes, with everything of it; undefined while it is live. */
export const expiryOf = ({ settings }: World, { endedAt }: Instance): Instant | undefined =>
  endedAt === undefined ? undefined : instantFrom(endedAt + settings.retentionMs);

/**
 * Lets an item expire under its version: one that was removed meanwhile, with its instance, must not
 * come back. Says whether it expires by this write; else it is another item by now, or none.
 */
export function expireItem(world: World, { version, ...item }: Item, expiresAt: Instant) {
  const put = { ...item, version: version + 1, expiresAt };
  const busy = () => stuck(item.key);
  return retrying(world, { tries: MAX_TRIES_OF_PARKED, busy }, async () => {
    const outcome = await world.store.commit([{ put, when: { version } }]);
    // An unknown outcome is a conflict next time.
    if (outcome.kind === "committed" || outcome.kind === "conflict") return outcome.kind;
    return again(outcome);
  });
}

/** Removes an item; one that is gone already is a conflict. */
export async function removeItem(world: World, key: Key): Promise<void> {
  await retrying(world, { tries: MAX_TRIES_OF_DOOR, busy: () => stuck(key) }, async () => {
    const outcome = await world.store.commit([{ remove: key, when: "exists" }]);
    return outcome.kind === "committed" || outcome.kind === "conflict" || again(outcome);
  });
}

/** The store did not let go of an item, or others put it back each time. */
export const stuck = ({ pk, sk }: Pick<Key, "pk"> & Partial<Key>): Busy => ({
  happened: "The store is too busy to let go of what an instance has left",
  where: sk === undefined ? pk : `${pk} / ${sk}`,
  fix: "Nothing is lost: the request can be repeated, and a message that brought it comes back.",
});
