import { compareByUtf8 } from "../../ports/key-order.ts";
import type { Item, Key, Write, WriteResult } from "../../ports/store.ts";
import { keyOf } from "../../ports/store-rules.ts";

/** How many changes an index or a stale read may be behind. */
export const MAX_LAG_CHANGES = 4;

/** The items themselves, and what the last few of them were before. */
export class Images {
  readonly #partitions = new Map<string, Map<string, Item>>();
  /** Sorted partitions, cached until something changes in them: pages are read in sequence. */
  readonly #ordered = new Map<string, readonly Item[]>();
  #all: readonly Item[] | undefined;
  /** Newest last. */
  readonly #changes: Readonly<{ key: Key; before: Item | undefined }>[] = [];

  get({ pk, sk }: Key): Item | undefined {
    return this.#partitions.get(pk)?.get(sk);
  }

  /** The item as it was before the last few changes of the whole store. */
  older(key: Key): Item | undefined {
    const change = this.#changes.find(({ key: { pk, sk } }) => pk === key.pk && sk === key.sk);
    return change === undefined ? this.get(key) : change.before;
  }

  partition(pk: string): readonly Item[] {
    const known = this.#ordered.get(pk);
    if (known) return known;
    const items = [...(this.#partitions.get(pk)?.values() ?? [])].sort(byKey);
    if (items.length > 0) this.#ordered.set(pk, items);
    return items;
  }

  /** The same array as long as nothing changes. */
  all(): readonly Item[] {
    this.#all ??= [...this.#partitions.values()]
      .flatMap((items) => [...items.values()])
      .sort(byKey);
    return this.#all;
  }

  /** As `all`, but before the last few changes. */
  allOlder(): readonly Item[] {
    const past = new Images();
    for (const item of this.all()) past.#set(item.key, item);
    for (const { key, before } of this.#changes.toReversed()) past.#set(key, before);
    return past.all();
  }

  judge(write: Write): WriteResult {
    const item = this.get(keyOf(write));
    return holds(write, item) ? { ok: true } : { ok: false, ...(item && { item }) };
  }

  /** Applies writes whose conditions were checked. */
  apply(writes: readonly Write[]): void {
    for (const write of writes) {
      if ("remove" in write) this.remove(write.remove);
      if ("put" in write && isWanted(write, this.get(write.put.key)))
        this.#change(write.put.key, write.put);
    }
  }

  remove(key: Key): void {
    if (this.get(key) !== undefined) this.#change(key, undefined);
  }

  #change(key: Key, item: Item | undefined): void {
    this.#changes.push({ key, before: this.get(key) });
    if (this.#changes.length > MAX_LAG_CHANGES) this.#changes.shift();
    // The bytes are copied as a disk would: a caller that changes them later changes nothing here.
    this.#set(key, item && { ...item, body: item.body.slice() });
  }

  #set({ pk, sk }: Key, item: Item | undefined): void {
    const partition = this.#partitions.get(pk) ?? new Map<string, Item>();
    this.#ordered.delete(pk);
    this.#all = undefined;
    if (item === undefined) partition.delete(sk);
    else partition.set(sk, item);
    if (partition.size === 0) this.#partitions.delete(pk);
    else this.#partitions.set(pk, partition);
  }
}

function byKey({ key: a }: Item, { key: b }: Item): number {
  return compareByUtf8(a.pk, b.pk) || compareByUtf8(a.sk, b.sk);
}

function holds({ when }: Write, item: Item | undefined): boolean {
  if (when === "absent") return item === undefined;
  if (when === "exists") return item !== undefined;
  return when === "newer" || item?.version === when.version;
}

/** A hint that is not newer than the stored item is dropped silently. */
function isWanted(write: Extract<Write, { put: Item }>, stored: Item | undefined): boolean {
  return write.when !== "newer" || stored === undefined || stored.version < write.put.version;
}
