import type { Item, Key, Store } from "../../ports/store.ts";
import { storeLimits } from "../../ports/store-rules.ts";

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
