/** Everything that a store holds in a range, page by page, as far as the caller goes on reading. */
import type { Item, ListedKey, Page, Range, Store } from "../../ports/store.ts";

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
