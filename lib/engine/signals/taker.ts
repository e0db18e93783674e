/** Which broadcast a wait has taken, as far as its instance can tell. */
import type { Json } from "../../definition/json.ts";
import type { Instance } from "../../kernel/instance.ts";
import { hasSeen } from "../../kernel/seen.ts";
import type { TrailEntry } from "../../kernel/trail.ts";
import { runOf } from "../../kernel/trail.ts";
import type { Item } from "../../ports/store.ts";
import type { Broadcast } from "../rows/broadcast.ts";
import { parseChunk } from "../storage/codec.ts";
import { CHUNKS, instancePk } from "../storage/keys.ts";
import type { Image } from "../storage/stored-instance.ts";
import { readableOf } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

/**
 * The id of the broadcast that the wait took: this one, where the wait remembers it or history tells
 * of it, else the last one. Undefined: none, or so long ago that it does not matter.
 */
export async function takerOf(
  world: World,
  image: Image,
  broadcast: Broadcast,
  ticket: string,
): Promise<string | undefined> {
  const { instance } = image;
  const open = instance.tickets.find(({ id }) => id === ticket);
  if (open?.on === "signal" && open.taken) {
    return hasSeen(open.taken, broadcast.seq) ? broadcast.id : undefined;
  }
  const inside = takenIn(instance.trail.entries, ticket);
  if (inside.includes(broadcast.id)) return broadcast.id;
  // One that stayed open has taken several: what it took first may have left the instance by now.
  const taken = [...takenIn(await spilled(world, image), ticket), ...inside];
  return taken.includes(broadcast.id) ? broadcast.id : taken.at(-1);
}

function takenIn(entries: readonly TrailEntry[], ticket: string): readonly string[] {
  return entries.flatMap(({ type, data }) => {
    if (type !== "signal-received" && type !== "event-received") return [];
    const said = isObject(data) ? data : {};
    const id =
      said.wait === ticket ? (textOf(said.broadcastId) ?? textOf(said.eventId)) : undefined;
    return id === undefined ? [] : [id];
  });
}

/** The newest history that has left the instance. */
async function spilled(world: World, { instance, program }: Image): Promise<readonly TrailEntry[]> {
  if (!hasChunks(instance)) return [];
  const pk = instancePk(world.settings.tenant, instance.id);
  const page = await world.store.scan(pk, { ...CHUNKS, limit: NEWEST, backwards: true });
  const parse = ({ body }: Item) => parseChunk(body, program.definition, runOf(instance));
  return readableOf(world, page.items.toReversed(), parse).flat();
}

const NEWEST = 50;

const hasChunks = ({ trail }: Instance): boolean => trail.next - trail.entries.length > 1;

const isObject = (data: Json | undefined): data is Readonly<Record<string, Json>> =>
  typeof data === "object" && data !== null && !Array.isArray(data);

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;
