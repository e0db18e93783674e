// A store in memory for simulated worlds: as loose as the port allows, and reproducible.
// Invariants:
//
// 1. Every call stops at a point before and a point after; the world decides when it continues, and
//    which fault it gets. A store without a world does not stop and has no faults.
// 2. A transaction is applied in two halves: the first write, then the rest; or the last one first.
//    At the point between them others see one half, and a write to one of its items gets `busy`. The
//    second half follows whatever happens to the caller.
// 3. Only what the port lets lag can be stale: `get` with `stale`, `due` and `list`.

import type { Instant } from "../../definition/time/instant.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type {
  Item,
  Key,
  ListedKey,
  Outcome,
  Page,
  Range,
  Slice,
  Store,
  Write,
} from "../../ports/store.ts";
import {
  checkKeys,
  checkRange,
  checkSlice,
  checkWrites,
  keyOf,
  sliceOf,
  storeLimits,
} from "../../ports/store-rules.ts";
import { Images } from "./images.ts";
import { duePage, listPage, scanPage } from "./pages.ts";

/** The calls a world can gate; `close` is the world's own. */
export type StoreCall = "get" | "commit" | "scan" | "due" | "list" | "tidy";

/** Where a call stops until the simulated world continues it. */
export type StorePoint =
  | `${StoreCall}:before`
  | `${StoreCall}:after`
  | "commit:half"
  | "commit:late";

/** What a world may answer at a point; where it makes no sense there it is ignored. */
export type StoreFault =
  /** At commit:before: throttled, nothing written. */
  | Readonly<{ fault: "busy"; retryAfterMs: number }>
  /** At commit:before: there is no room, and the call is rejected; nothing written. */
  | Readonly<{ fault: "full" }>
  /** At commit:before: the caller is not told whether it was applied; "later" is when the world
   *  lets commit:late go on, by then its conditions may no longer hold. */
  | Readonly<{ fault: "unknown"; applied: boolean | "later" }>
  /** At commit:before: of a transaction apply the last write first. */
  | Readonly<{ fault: "reversed" }>
  /** Before a `stale` get, due or list: answer as of some writes ago. */
  | Readonly<{ fault: "stale" }>
  /** At tidy:before: best effort was not enough, nothing removed. */
  | Readonly<{ fault: "lost" }>;

/** How a world takes part: called at every point, with the keys that the call names. */
export type StoreWorld = Readonly<{
  turn?: (point: StorePoint, keys: readonly Key[]) => Promise<StoreFault | undefined>;
}>;

/** A Store in memory that shows every freedom the port allows, when the world says so. */
export class SimulatedStore implements Store {
  readonly #turn: StoreWorld["turn"];
  readonly #images = new Images();
  readonly #inFlight = new Set<string>();
  readonly #late: Promise<unknown>[] = [];

  constructor({ turn }: StoreWorld = {}) {
    this.#turn = turn;
  }

  /** Everything stored right now, in the order of keys: for invariants, never for the engine. */
  items(): readonly Item[] {
    return this.#images.all();
  }

  async get(keys: readonly Key[], how?: { stale: true }): Promise<readonly (Item | undefined)[]> {
    checkKeys(keys);
    const fault = await this.#turn?.("get:before", keys);
    const isStale = how?.stale === true && fault?.fault === "stale";
    const items = keys.map((key) => (isStale ? this.#images.older(key) : this.#images.get(key)));
    await this.#turn?.("get:after", keys);
    return items;
  }

  async commit(writes: readonly [Write, ...Write[]]): Promise<Outcome> {
    checkWrites(writes);
    const keys = writes.map(keyOf);
    const fault = await this.#turn?.("commit:before", keys);
    const outcome = await this.#commitWith(fault, writes);
    await this.#turn?.("commit:after", keys);
    return fault?.fault === "unknown" ? { kind: "unknown" } : outcome;
  }

  async scan(pk: string, range: Range): Promise<Page<Item>> {
    checkRange(range);
    await this.#turn?.("scan:before", []);
    const page = scanPage(this.#images.partition(pk), range);
    await this.#turn?.(
      "scan:after",
      page.items.map((item) => item.key),
    );
    return page;
  }

  async due(until: Instant, slice: Slice, after?: string, from?: Instant): Promise<Page<Key>> {
    checkSlice(slice);
    const fault = await this.#turn?.("due:before", []);
    const inSlice = this.#indexed(fault).filter(
      ({ key }) => sliceOf(key.pk) % slice.of === slice.index,
    );
    const page = duePage(inSlice, { from, until, limit: storeLimits.duePerPage, after });
    await this.#turn?.("due:after", page.items);
    return page;
  }

  async list(view: string, range: Range): Promise<Page<ListedKey>> {
    checkRange(range);
    const fault = await this.#turn?.("list:before", []);
    const page = listPage(this.#indexed(fault), view, range);
    await this.#turn?.("list:after", page.items);
    return page;
  }

  async tidy(hints: readonly Key[]): Promise<void> {
    checkKeys(hints);
    const fault = await this.#turn?.("tidy:before", hints);
    if (fault?.fault !== "lost") for (const key of hints) this.#images.remove(key);
    await this.#turn?.("tidy:after", hints);
  }

  /** Removes items that had expired by `now`, as a world may at any later moment; returns how many. */
  purgeExpired(now: Instant): number {
    const expired = this.items().filter(
      ({ expiresAt }) => expiresAt !== undefined && expiresAt <= now,
    );
    for (const { key } of expired) this.#images.remove(key);
    return expired.length;
  }

  async close(): Promise<void> {
    await Promise.all(this.#late);
  }

  async #commitWith(fault: StoreFault | undefined, writes: readonly Write[]): Promise<Outcome> {
    if (fault?.fault === "full") throw full();
    if (fault?.fault === "busy") return { kind: "busy", retryAfterMs: fault.retryAfterMs };
    if (fault?.fault === "unknown" && fault.applied !== true) {
      if (fault.applied === "later") this.#late.push(this.#commitLate(writes));
      return { kind: "unknown" };
    }
    return this.#commitNow(writes, fault?.fault === "reversed" ? "reversed" : "in order");
  }

  async #commitLate(writes: readonly Write[]): Promise<void> {
    await this.#turn?.("commit:late", writes.map(keyOf));
    await this.#commitNow(writes, "in order");
  }

  async #commitNow(writes: readonly Write[], order: "in order" | "reversed"): Promise<Outcome> {
    if (writes.some((write) => this.#inFlight.has(nameOf(keyOf(write))))) return BUSY;
    const current = writes.map((write) => this.#images.judge(write));
    if (current.some((result) => !result.ok)) return { kind: "conflict", current };
    await this.#applyHalves(order === "reversed" ? writes.toReversed() : writes);
    return COMMITTED;
  }

  async #applyHalves([first, ...rest]: readonly Write[]): Promise<void> {
    if (first === undefined) return;
    const names = [first, ...rest].map((write) => nameOf(keyOf(write)));
    this.#images.apply([first]);
    try {
      if (rest.length === 0 || this.#turn === undefined) return;
      for (const name of names) this.#inFlight.add(name);
      await this.#turn("commit:half", [first, ...rest].map(keyOf));
    } finally {
      this.#images.apply(rest);
      for (const name of names) this.#inFlight.delete(name);
    }
  }

  #indexed(fault: StoreFault | undefined): readonly Item[] {
    return fault?.fault === "stale" ? this.#images.allOlder() : this.#images.all();
  }
}

const full = (): EngineError =>
  new EngineError("store/disk-full", {
    happened: "There is no room for the new state; nothing of this commit was saved",
    where: "simulated store",
    fix: "Try again.",
  });

const COMMITTED: Outcome = { kind: "committed" };
const BUSY: Outcome = { kind: "busy", retryAfterMs: 10 };

function nameOf({ pk, sk }: Key): string {
  return `${pk}\0${sk}`;
}
