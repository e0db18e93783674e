import { MAX_TRIES_OF_PARKED } from "../../definition/limits.ts";
import type { Instance } from "../../kernel/instance.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Item } from "../../ports/store.ts";
import { instancePk, LEFT } from "../storage/keys.ts";
import { expireValue } from "../storage/values.ts";
import type { World } from "../world.ts";
import { expireKeyRows } from "./key-rows.ts";

/** What has left an ended instance lives as long as it does; for a live one nothing is done. */
export async function expireLeft(world: World, instance: Instance): Promise<void> {
  const { id, tenant, endedAt } = instance;
  if (endedAt === undefined) return;
  const expiresAt = (endedAt + world.settings.retentionMs) as typeof endedAt;
  const pk = instancePk(tenant, id);
  let after: string | undefined;
  do {
    const page = await world.store.scan(pk, { ...LEFT, limit: 100, ...(after && { after }) });
    for (const item of page.items.filter((each) => each.expiresAt === undefined)) {
      // Its blob first: an item that expires says that everything of it does.
      await expireValue(world, id, item);
      await expire(world, { ...item, expiresAt });
    }
    after = page.next;
  } while (after !== undefined);
  await expireKeyRows(world, instance);
}

/** Under its version: what was removed meanwhile, with its instance, must not come back. */
async function expire(world: World, { version, ...item }: Item): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES_OF_PARKED; tries++) {
    const put = { ...item, version: version + 1 };
    const outcome = await world.store.commit([{ put, when: { version } }]);
    // Somebody else has let it expire, or removed it; an unknown outcome is a conflict next time.
    if (outcome.kind === "committed" || outcome.kind === "conflict") return;
    await world.clock.pause(outcome.kind === "busy" ? outcome.retryAfterMs : 5);
  }
  throw new EngineError("engine/busy", {
    happened: "The store is too busy to let go of what an instance has left",
    where: `${item.key.pk} / ${item.key.sk}`,
    fix: "Nothing is lost: the message that brought its end comes back.",
    retryable: true,
  });
}
