import type { Item, Key, Outcome, Write } from "../../ports/store.ts";
import { keyOf } from "../../ports/store-rules.ts";

/** Bytes of the cached items: some thousand instances. What was decoded from them is cached as long. */
export const MAX_RECENT_BYTES = 1024 * 1024;

/**
 * A cache of the items last read or written, as they are on disk: another read gets the very same
 * bytes, without disk access and without decoding them again. Only durable items are cached.
 */
export class RecentItems {
  readonly #items = new Map<string, Item>();
  #bytes = 0;

  get(key: Key): Item | undefined {
    const name = nameOf(key);
    const item = this.#items.get(name);
    if (item === undefined) return undefined;
    // A map keeps insertion order: the first entry is the least recently used.
    this.#items.delete(name);
    this.#items.set(name, item);
    return item;
  }

  keep(item: Item): void {
    this.forget(item.key);
    this.#items.set(nameOf(item.key), item);
    this.#bytes += bytesOf(item);
    for (const oldest of this.#items.values()) {
      if (this.#bytes <= MAX_RECENT_BYTES) return;
      this.forget(oldest.key);
    }
  }

  forget(key: Key): void {
    const name = nameOf(key);
    const item = this.#items.get(name);
    if (item === undefined) return;
    this.#items.delete(name);
    this.#bytes -= bytesOf(item);
  }

  clear(): void {
    this.#items.clear();
    this.#bytes = 0;
  }

  /** Follows a commit that has become durable; a refused one has changed nothing. */
  follow(writes: readonly Write[], outcome: Outcome): void {
    if (outcome.kind !== "committed") return;
    for (const write of writes) {
      // Only the table knows whether a hint replaced anything.
      if ("put" in write && write.when !== "newer") this.keep(write.put);
      else if (!("expect" in write)) this.forget(keyOf(write));
    }
  }
}

/** An entry costs its bytes and about as much again for names and objects. */
function bytesOf({ body }: Item): number {
  return body.length + 256;
}

function nameOf({ pk, sk }: Key): string {
  return `${pk}\0${sk}`;
}
