/**
 * The id that a broadcast event was accepted under. It outlives the event: a repeated request finds
 * what was accepted, and later requests learn of an event for one taker whether it found one.
 */
import { MIN_MESSAGE_MEMORY_MS } from "../../definition/limits.ts";
import { instantFrom } from "../../definition/time/instant.ts";
import type { Item, Write } from "../../ports/store.ts";
import type { KeptEvent } from "../rows/event.ts";
import { encodeBody, parseBody } from "../storage/formats.ts";
import { readItem, replacing } from "../storage/items.ts";
import { eventIdKey } from "../storage/keys.ts";
import type { World } from "../world.ts";

/** An event with its number among those of its name. */
export type NumberedEvent = Omit<KeptEvent, "version">;

type StoredId = Omit<NumberedEvent, "name" | "id" | "payload"> &
  Readonly<{
    /** A fingerprint of name and payload. */
    body: string;
    /** No taker was found, and the event is gone. */
    dropped?: true;
  }>;

export const readId = (world: World, id: string): Promise<Item | undefined> =>
  readItem(world, eventIdKey(world.settings.tenant, id));

export const parseId = ({ body }: Item): StoredId => parseBody("event-id", body) as StoredId;

/** Writes the id of an event in the place of one that has had its time, or where none is. */
export function writeOfId(
  world: World,
  { name: _, id, payload: __, ...rest }: NumberedEvent,
  { body, found }: Readonly<{ body: string; found: Item | undefined }>,
): Write {
  return replacing(found, {
    key: eventIdKey(world.settings.tenant, id),
    version: 1,
    body: encodeBody("event-id", { ...rest, body }),
    expiresAt: instantFrom(Math.max(rest.expiresAt, rest.at + MIN_MESSAGE_MEMORY_MS)),
  });
}

/** The write that goes with the removal of an event that found no taker; none without an id. */
export async function writesOfDropping(world: World, id: string): Promise<readonly Write[]> {
  const item = await readId(world, id);
  if (item === undefined) return [];
  const body = encodeBody("event-id", { ...parseId(item), dropped: true });
  return [replacing(item, { ...item, body })];
}

/** Says whether the event, which is gone, found no taker. */
export async function isDropped(world: World, id: string): Promise<boolean> {
  const item = await readId(world, id);
  return item !== undefined && parseId(item).dropped === true;
}
