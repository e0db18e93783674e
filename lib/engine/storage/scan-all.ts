/** Ranges of a store: all of one, page by page as far as the caller reads, or one page of a list. */
import type { Item, ListedKey, Page, Range, Store } from "../../ports/store.ts";
import type { World } from "../world.ts";
import { readMany } from "./read-many.ts";
import { readEach } from "./unreadable.ts";

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
