/**
 * An event for one taker that found none is gone as if it had been taken: its id remembers that it
 * was not, so that whoever asks later, or at the same moment, is told the same.
 */
import type { Item, Write } from "../../ports/store.ts";
import type { KeptEvent } from "../rows/kept-event.ts";
import { encodeBody, parseBody } from "../storage/formats.ts";
import { eventIdKey } from "../storage/keys.ts";
import type { World } from "../world.ts";

type Named = Pick<KeptEvent, "id">;

/** The write that belongs to the event's removal; none where its id is forgotten already. */
export async function writesOfDropping(world: World, event: Named): Promise<readonly Write[]> {
  const item = await readId(world, event);
  if (item === undefined) return [];
  const { version } = item;
  const body = encodeBody("event-id", { ...parseId(item), dropped: true });
  return [{ put: { ...item, version: version + 1, body }, when: { version } }];
}

/** Says whether the event, which is gone, was taken by nobody. */
export async function isDropped(world: World, event: Named): Promise<boolean> {
  const item = await readId(world, event);
  return item !== undefined && parseId(item).dropped === true;
}

async function readId(world: World, { id }: Named): Promise<Item | undefined> {
  const [item] = await world.store.get([eventIdKey(world.settings.tenant, id)]);
  return item;
}

function parseId({ body }: Item): Readonly<{ dropped?: boolean }> {
  return parseBody("event-id", body) as { dropped?: boolean };
}
