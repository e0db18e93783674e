/** First in, first out; what was taken may be put back in front. */
export class Fifo<T> {
  #items: T[] = [];
  #first = 0;

  get size(): number {
    return this.#items.length - this.#first;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** The first `count` items, or all. */
  take(count: number): readonly T[] {
    const taken = this.#items.slice(this.#first, this.#first + count);
    this.#first += taken.length;
    // Moving the rest to the front now and then keeps `take` cheap, however long the queue.
    if (this.#first > 64 && this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return taken;
  }

  /** Puts items before all others, in their order. */
  putBack(items: readonly T[]): void {
    if (items.length === 0) return;
    this.#items = [...items, ...this.#items.slice(this.#first)];
    this.#first = 0;
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (let n = this.#first; n < this.#items.length; n++) {
      const item = this.#items[n];
      if (item !== undefined) yield item;
    }
  }
}
