import type { Instance } from "../kernel/instance.ts";
import { putHint } from "./hint.ts";
import { instancePk, LEFT } from "./keys.ts";
import { expireKeyRows } from "./listing/key-rows.ts";
import { expireValue } from "./values.ts";
import type { World } from "./world.ts";

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
      await putHint(world, { ...item, version: item.version + 1, expiresAt });
    }
    after = page.next;
  } while (after !== undefined);
  await expireKeyRows(world, instance);
}
