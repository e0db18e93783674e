// The one place where state lives. What the engine may rely on, whatever the implementation:
//
// 1. A commit is all or nothing and durable when it resolves; conditions look at versions only.
// 2. Each item is linearizable on its own. Nothing promises a snapshot over several items: an
//    observer may see a transaction of several writes half applied.
// 3. `due` and `list` are indexes: they may lag behind the items, but never lose one.
// 4. Keys and orders are compared by their UTF-8 bytes.
//
// The limits of a call are in store-rules.ts, and every adapter enforces the same ones.

import type { Instant } from "../definition/time/instant.ts";

/** Identifies an item: `pk` is its partition and starts with the tenant, `sk` is its order within it. */
export type Key = Readonly<{ pk: string; sk: string }>;

/** One stored item, always written whole. */
export type Item = Readonly<{
  key: Key;
  /** The engine increments it; every condition checks this and nothing else. */
  version: number;
  /** Bytes the engine encoded, and must not change afterwards. */
  body: Uint8Array;
  /** When this item must be re-checked, exact to the millisecond; absent: never. */
  lookAt?: Instant;
  /** The listing view that shows this item, and its place in there. */
  listed?: Readonly<{ view: string; order: string }>;
  /**
   * From then on the store may delete the item; until it does, the item is still read, so readers
   * check.
   */
  expiresAt?: Instant;
}>;

/** A key in a listing view, and its place there. */
export type ListedKey = Key & Readonly<{ order: string }>;

/** One change under its condition. A put replaces the whole item. */
export type Write =
  /** Authoritative: fails unless the item is absent, or has exactly this version. */
  | Readonly<{ put: Item; when: "absent" | Readonly<{ version: number }> }>
  /** A hint: replaces only a smaller version, otherwise does nothing. Never part of a transaction. */
  | Readonly<{ put: Item; when: "newer" }>
  | Readonly<{ remove: Key; when: "exists" | Readonly<{ version: number }> }>
  /** A condition without a write, for the other writes. Not for keys that are often written. */
  | Readonly<{ expect: Key; when: Readonly<{ version: number }> }>;

/** The result of one write of a refused commit: a failed one has the current item, if there is one. */
export type WriteResult = Readonly<{ ok: true } | { ok: false; item?: Item }>;

/** The outcome of a commit; all four are normal under concurrency. */
export type Outcome = Readonly<
  | { kind: "committed" }
  /**
   * Nothing was written. The images are strongly consistent, in the order of the writes: decide
   * again from them.
   */
  | { kind: "conflict"; current: readonly WriteResult[] }
  /** Throttled, or in conflict with a transaction in flight: nothing was written. */
  | { kind: "busy"; retryAfterMs: number }
  /** It is unknown whether it was written: read, never repeat blindly. */
  | { kind: "unknown" }
>;

/** Part of a result. With `next` there may be more: query again with it as `after`. */
export type Page<T> = Readonly<{ items: readonly T[]; next?: string }>;

/** From (inclusive) up to (exclusive), at most `limit`, after the cursor `after`. */
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
  /**
   * The items, in the order of the keys; strongly consistent unless `stale`. Each key is a separate
   * read.
   */
  get(keys: readonly Key[], how?: { stale: true }): Promise<readonly (Item | undefined)[]>;

  /** All or nothing, durable when resolved. Several writes are a transaction and cost double. */
  commit(writes: readonly [Write, ...Write[]]): Promise<Outcome>;

  /**
   * Items of one partition in the order of `sk`, strongly consistent; only inserts before the
   * cursor are missed.
   */
  scan(pk: string, range: Range): Promise<Page<Item>>;

  /** Keys whose lookAt has come by `until`, up to a minute early, the oldest minute first; with
   *  `from` none of earlier minutes. A key stays until a commit moves it. A cursor is good for
   *  later `until` too. */
  due(until: Instant, slice: Slice, after?: string, from?: Instant): Promise<Page<Key>>;

  /** Keys of a listing view in their order; the range is one of orders. */
  list(view: string, range: Range): Promise<Page<ListedKey>>;

  /** Removes obsolete hints, whatever their version; best effort, possibly with a later commit. */
  tidy(hints: readonly Key[]): Promise<void>;

  /** Makes all accepted writes durable and releases the resources of the store. */
  close(): Promise<void>;
}
