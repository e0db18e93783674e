// The one place where state lives. What the engine may rely on, whatever stands behind it:
//
// 1. A commit is all or nothing and durable when it resolves; conditions look at versions only.
// 2. Each item is linearizable on its own. Nothing promises a snapshot over several items: an
//    observer may see a transaction of several writes half applied.
// 3. `due` and `list` are indexes: they may lag behind the items, but never forget one.
// 4. Keys and orders are compared by their UTF-8 bytes.
//
// The limits of a call are in store-rules.ts, and every adapter enforces the same ones.

import type { Instant } from "../definition/time/instant.ts";

/** Names an item: `pk` is its partition and opens with the tenant, `sk` orders it in there. */
export type Key = Readonly<{ pk: string; sk: string }>;

/** One stored thing, always written whole. */
export type Item = Readonly<{
  key: Key;
  /** The engine counts it up; every condition looks at this and at nothing else. */
  version: number;
  /** Bytes the engine encoded, and must not change after handing them over. */
  body: Uint8Array;
  /** When somebody must look at this item again, exact to the millisecond; absent: never. */
  lookAt?: Instant;
  /** The listing view that shows this item, and its place in there. */
  listed?: Readonly<{ view: string; order: string }>;
  /** From then on the item may vanish at any moment; until it does it is read, so readers check. */
  expiresAt?: Instant;
}>;

/** A key in a listing view, and its place there. */
export type ListedKey = Key & Readonly<{ order: string }>;

/** One change under its condition. A put replaces the whole item. */
export type Write =
  /** Authority: fails unless the item is absent, or has exactly this version. */
  | Readonly<{ put: Item; when: "absent" | Readonly<{ version: number }> }>
  /** A hint: replaces only a smaller version, otherwise quietly does nothing. Never in company. */
  | Readonly<{ put: Item; when: "newer" }>
  | Readonly<{ remove: Key; when: "exists" | Readonly<{ version: number }> }>
  /** Changes nothing, but the other writes need it to hold. Not for keys that many write. */
  | Readonly<{ expect: Key; when: Readonly<{ version: number }> }>;

/** How one write of a refused commit fared: a failed one brings its image, none when absent. */
export type WriteResult = Readonly<{ ok: true } | { ok: false; item?: Item }>;

/** What came of a commit; all four are normal in a concurrent world. */
export type Outcome = Readonly<
  | { kind: "committed" }
  /** Nothing was written. The images are strong, in the order of the writes: decide again from them. */
  | { kind: "conflict"; current: readonly WriteResult[] }
  /** Throttled, or met a transaction under way: nothing was written. */
  | { kind: "busy"; retryAfterMs: number }
  /** Nobody knows whether it was written: read, never repeat blindly. */
  | { kind: "unknown" }
>;

/** Part of an answer. With `next` there may be more: ask again with it as `after`. */
export type Page<T> = Readonly<{ items: readonly T[]; next?: string }>;

/** From (inclusive) up to (exclusive), at most `limit`, behind the cursor `after`. */
export type Range = Readonly<{
  from?: string;
  to?: string;
  limit: number;
  after?: string;
  backwards?: true;
}>;

/** One of `of` equal parts of all partitions; `of` divides 32. */
export type Slice = Readonly<{ index: number; of: number }>;

export interface Store {
  /** The items, in the order of the keys; strong unless `stale`. Each key is a read of its own. */
  get(keys: readonly Key[], how?: { stale: true }): Promise<readonly (Item | undefined)[]>;

  /** All or nothing, durable when resolved. Several writes are a transaction and cost double. */
  commit(writes: readonly [Write, ...Write[]]): Promise<Outcome>;

  /** Items of one partition in the order of `sk`, strong; only inserts behind the cursor are missed. */
  scan(pk: string, range: Range): Promise<Page<Item>>;

  /** Keys whose lookAt has come by `until`, up to a minute early, the oldest minute first; with
   *  `from` none of earlier minutes. A key stays until a commit moves it. A cursor is good for later
   *  `until` too. */
  due(until: Instant, slice: Slice, after?: string, from?: Instant): Promise<Page<Key>>;

  /** Keys of a listing view in their order; the range is one of orders. */
  list(view: string, range: Range): Promise<Page<ListedKey>>;

  /** Removes hints known to be dead, whatever their version; best effort, may ride on a later commit. */
  tidy(hints: readonly Key[]): Promise<void>;

  /** Makes everything asked for durable and lets go of what the store holds. */
  close(): Promise<void>;
}
