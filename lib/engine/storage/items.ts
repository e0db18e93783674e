/** Single items and ranges of items: hints, first puts, pages, and items that go with their instance. */
import { MAX_TRIES_OF_DOOR, MAX_TRIES_OF_PARKED } from "../../definition/limits.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { Instance } from "../../kernel/instance.ts";
import type { Item, Key, ListedKey, Page, Range, Store, Write } from "../../ports/store.ts";
import { storeLimits } from "../../ports/store-rules.ts";
import type { World } from "../world.ts";
import { Again, again, engineBusy, retrying, tryRepeatedly } from "./retrying.ts";
import { readEach } from "./unreadable.ts";

// Hints are put alone and may be put again: a busy store is asked once more.

type Writing = Pick<World, "store" | "clock">;

/** The hint is there when this resolves; throws when the store stays busy. */
export async function putHint(world: Writing, item: Item): Promise<void> {
  if (!(await tryPutHint(world, item))) throw engineBusy(placeOf(item.key));
}

/** Whether the hint is there; false when the store stays busy. */
export async function tryPutHint(world: Writing, put: Item): Promise<boolean> {
  const result = await tryRepeatedly(world, { tries: MAX_TRIES_OF_PARKED }, async () => {
    const outcome = await world.store.commit([{ put, when: "newer" }]);
    return outcome.kind === "committed" || again(outcome);
  });
  return !(result instanceof Again);
}

/** Where an item is stored, in words. */
export const placeOf = ({ pk, sk }: Key): string => `${pk} / ${sk}`;

/** Puts an item where none is, or an expired one; gives the item that then stands there. */
export function putAbsent(world: Writing, item: Item): Promise<Item> {
  let found: Item | undefined;
  return retrying(world, { tries: MAX_TRIES_OF_DOOR, where: placeOf(item.key) }, async () => {
    const outcome = await world.store.commit([replacing(found, item)]);
    if (outcome.kind === "committed") return item;
    [found] = await world.store.get([item.key]);
    return found && !isOver(world, found) ? found : again(outcome);
  });
}

/** Whether an item has expired, though the store may still have it. */
export const isOver = ({ clock }: Pick<World, "clock">, { expiresAt }: Item): boolean =>
  expiresAt !== undefined && expiresAt <= clock.now();

/** Puts an item in the place of an expired one, or where none is. */
export const replacing = (found: Item | undefined, item: Item): Write =>
  found
    ? { put: { ...item, version: found.version + 1 }, when: { version: found.version } }
    : { put: item, when: "absent" };

export async function readItem({ store }: World, key: Key): Promise<Item | undefined> {
  const [item] = await store.get([key]);
  return item;
}

/** Reads any number of keys, in the sizes that stores take. */
export async function readMany(
  store: Store,
  keys: readonly Key[],
  how?: Parameters<Store["get"]>[1],
): Promise<readonly (Item | undefined)[]> {
  const items: (Item | undefined)[] = [];
  for (let from = 0; from < keys.length; from += storeLimits.keysPerCall) {
    items.push(...(await store.get(keys.slice(from, from + storeLimits.keysPerCall), how)));
  }
  return items;
}

// Ranges of a store: all of one, page by page as far as the caller reads, or one page of a list.

/** Items of one partition in key order. */
export async function* scanAll(
  store: Pick<Store, "scan">,
  pk: string,
  range: Omit<Range, "after">,
): AsyncGenerator<Item> {
  for await (const items of eachPage((after) => store.scan(pk, { ...range, ...after }))) {
    yield* items;
  }
}

/** The pages of a listing view; a page is what one call can read the items of. */
export const listPages = (
  store: Pick<Store, "list">,
  view: string,
  range: Omit<Range, "after">,
): AsyncGenerator<readonly ListedKey[]> =>
  eachPage((after) => store.list(view, { ...range, ...after }));

export async function* eachPage<T>(
  read: (after: Readonly<{ after?: string }>) => Promise<Page<T>>,
): AsyncGenerator<readonly T[]> {
  let next: string | undefined;
  do {
    const page = await read(next === undefined ? {} : { after: next });
    yield page.items;
    next = page.next;
  } while (next !== undefined);
}

/** A request for one page of a list, as callers make it. */
type PageRequest = Readonly<{ limit: number; cursor?: string }>;

/** The range that a page request asks a store for. */
export const rangeOf = ({ limit, cursor: after }: PageRequest): Pick<Range, "limit" | "after"> => ({
  limit,
  ...(after !== undefined && { after }),
});

/** A page of the items that a listing view names; an item that is gone is undefined. */
export async function listItems(
  { store }: Pick<World, "store">,
  view: string,
  range: Range,
): Promise<Page<Item | undefined>> {
  const page = await store.list(view, range);
  return { ...page, items: await readMany(store, page.items) };
}

/** What `read` gives for the items of a page, without what is gone or cannot be read. */
export async function viewPage<T>(
  world: World,
  { items, next }: Page<Item | undefined>,
  read: (item: Item) => T | undefined | Promise<T | undefined>,
): Promise<Readonly<{ items: readonly T[]; nextCursor?: string }>> {
  const found = items.filter((item) => item !== undefined);
  const views = await readEach(world, found, read);
  return { items: views, ...(next !== undefined && { nextCursor: next }) };
}

// Items that go with their instance for certain; tidying is best effort.

/** When an ended instance goes, with everything of it; undefined while it is live. */
export const expiryOf = ({ settings }: World, { endedAt }: Instance): Instant | undefined =>
  endedAt === undefined ? undefined : instantFrom(endedAt + settings.retentionMs);

/**
 * Lets an item expire under its version: one that was removed with its instance must not come back.
 * A conflict says that it is another item by now, or none.
 */
export function expireItem(world: World, { version, ...item }: Item, expiresAt: Instant) {
  const put = { ...item, version: version + 1, expiresAt };
  return retrying(world, { tries: MAX_TRIES_OF_PARKED, where: placeOf(item.key) }, async () => {
    const outcome = await world.store.commit([{ put, when: { version } }]);
    // An unknown outcome is a conflict next time.
    const isDone = outcome.kind === "committed" || outcome.kind === "conflict";
    return isDone ? outcome.kind : again(outcome);
  });
}

/** Removes an item; one that is gone already is a conflict. */
export async function removeItem(world: World, key: Key): Promise<void> {
  await retrying(world, { tries: MAX_TRIES_OF_DOOR, where: placeOf(key) }, async () => {
    const outcome = await world.store.commit([{ remove: key, when: "exists" }]);
    return outcome.kind === "committed" || outcome.kind === "conflict" || again(outcome);
  });
}
