import type { Item, Key, Store } from "../ports/store.ts";

/** Reads any number of keys, in the sizes that stores take. */
export async function readMany(
  store: Store,
  keys: readonly Key[],
): Promise<readonly (Item | undefined)[]> {
  const items: (Item | undefined)[] = [];
  for (let from = 0; from < keys.length; from += KEYS_PER_GET) {
    items.push(...(await store.get(keys.slice(from, from + KEYS_PER_GET))));
  }
  return items;
}

const KEYS_PER_GET = 100;
