import { isKeyName } from "../../definition/key-name.ts";
import { MAX_SHARDS_PER_PAGE } from "../../definition/limits.ts";
import type { Item, Page } from "../../ports/store.ts";
import { cursorInvalid } from "../../ports/store-rules.ts";
import type { PageRequest } from "../shapes/paging.ts";
import { offersPk } from "../storage/keys.ts";
import type { World } from "../world.ts";
import { lookedForType, taskTypes } from "./task-type.ts";

/**
 * Rows of a type, or of all, shard by shard; a task that is just being taken may have two. However
 * many types have no tasks, a page looks at so many shards and no more: then it is short.
 */
export async function offerRows(
  world: World,
  type: string | undefined,
  { limit, cursor }: PageRequest,
): Promise<Page<Item>> {
  const from = cursor === undefined ? undefined : parsePlace(cursor, type);
  const items: Item[] = [];
  let looked = 0;
  for await (const place of placesFrom(world, type, from)) {
    const range = {
      limit: limit - items.length,
      ...(place.after !== undefined && { after: place.after }),
    };
    const pk = offersPk(world.settings.tenant, place.type, place.shard);
    const page = await world.store.scan(pk, range);
    items.push(...page.items);
    if (page.next !== undefined) return { items, next: placeText({ ...place, after: page.next }) };
    looked += 1;
    if (items.length >= limit || looked >= MAX_SHARDS_PER_PAGE) {
      return { items, next: placeText({ ...place, isDone: true }) };
    }
  }
  return { items };
}

/** A shard of a type, and how far it was read. */
type Place = Readonly<{ type: string; shard: number; after?: string; isDone?: true }>;

async function* placesFrom(
  world: World,
  only: string | undefined,
  from: Place | undefined,
): AsyncGenerator<Place> {
  for await (const type of only === undefined ? taskTypes(world, from?.type) : [only]) {
    const { shards } = await lookedForType(world, type);
    for (let shard = type === from?.type ? from.shard : 0; shard < shards; shard++) {
      const isIt = type === from?.type && shard === from.shard;
      if (isIt && from?.isDone) continue;
      yield { type, shard, ...(isIt && from?.after !== undefined && { after: from.after }) };
    }
  }
}

const placeText = ({ type, shard, after, isDone }: Place): string =>
  JSON.stringify([type, shard, isDone ? null : (after ?? "")]);

function parsePlace(cursor: string, only: string | undefined): Place {
  try {
    const [type, shard, after] = JSON.parse(cursor) as [string, number, string | null];
    const isSound = typeof type === "string" && isKeyName(type) && Number.isSafeInteger(shard);
    if (isSound && (only === undefined || type === only)) {
      return { type, shard, ...(after === null ? { isDone: true } : { after: String(after) }) };
    }
  } catch {
    // Told below.
  }
  throw cursorInvalid(cursor);
}
