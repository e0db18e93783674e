/**
 * Over how many shards the lists of a definition are spread. An index takes about a thousand writes
 * a second in one partition, and a phase change is two of them: a definition with more needs more
 * partitions, or the index pushes back on the writes of instances.
 *
 * 1. The number stands in the head of the definition. A start goes by what it has read there, its
 *    instance keeps the shard, and the number only grows: a reader of the head after the instance
 *    was committed reads every shard that it can be in.
 * 2. The index of definitions says the number too, in the order of an entry: a list of all
 *    definitions reads no head. It may lag, as the listing itself does.
 */
import { EngineError } from "../../ports/engine-error.ts";
import type { ListedKey } from "../../ports/store.ts";
import type { ListingView } from "../shapes/definitions.ts";
import { definitionIdOf } from "../storage/keys.ts";
import { changeLatest, deployed, type Latest, shardsOf } from "../storage/latest.ts";
import type { World } from "../world.ts";

/** How the lists of a definition are spread. */
export async function getListing(world: World, id: string): Promise<ListingView> {
  return viewListing((await deployed(world, id)).latest);
}

/** Spreads the instances that start from now on over more shards. */
export async function setListing(
  world: World,
  id: string,
  { shards }: Readonly<{ shards: number }>,
): Promise<ListingView> {
  const latest = await changeLatest(world, id, async ({ latest }) => {
    const before = shardsOf(latest);
    if (shards < before) throw fewer(id, before);
    return shards === before ? undefined : { latest: { ...latest, shards } };
  });
  return viewListing(latest);
}

const viewListing = (latest: Latest): ListingView => ({
  definition: latest.id,
  shards: shardsOf(latest),
});

/** A definition that the index of definitions shows, and over how many shards it is spread. */
export function shardsInOrder(entry: ListedKey): Readonly<{ id: string; shards: number }> {
  const id = definitionIdOf(entry);
  const number = entry.order.slice(id.length + 1);
  return { id, shards: number === "" ? 1 : Number(number) };
}

const fewer = (id: string, before: number): EngineError =>
  new EngineError("definition/fewer-shards", {
    happened: `The definition has ${before} shards, and instances in all of them`,
    where: `definition ${id}`,
    fix: `Give ${before} or more: the number only grows.`,
  });
