import type { Instant } from "../../definition/time/instant.ts";

/** An entry of the heap; its holder can remove it before it is due. */
export type Due<T> = { readonly item: T; readonly dueAt: Instant };

/**
 * Items ordered by due instant, those of one instant in insertion order. An early removal only
 * marks an entry; marked entries are swept out when they are the majority, so that the heap never
 * holds more than twice the waiting items.
 */
export class DueHeap<T> {
  #nodes: Node<T>[] = [];
  #gone = 0;
  #count = 0;

  /** How many items wait. */
  get size(): number {
    return this.#nodes.length - this.#gone;
  }

  /** How many places are used, marked entries included: what the heap costs. */
  get places(): number {
    return this.#nodes.length;
  }

  /** When the first item is due. */
  get earliest(): Instant | undefined {
    this.#dropGone();
    return this.#nodes[0]?.dueAt;
  }

  add(item: T, dueAt: Instant): Due<T> {
    const node: Node<T> = { item, dueAt, order: this.#count++, isGone: false };
    this.#nodes.push(node);
    this.#rise(this.#nodes.length - 1);
    return node;
  }

  /** Removes an item before it is due; does nothing when it is gone already. */
  remove(due: Due<T>): void {
    const node: Partial<Node<T>> & Due<T> = due;
    if (node.isGone !== false) return;
    node.isGone = true;
    this.#gone++;
    if (this.#gone > this.size && this.#nodes.length > SMALL) this.#sweep();
  }

  /** Removes and returns the first item if it is due by `now`. */
  takeDue(now: Instant): Due<T> | undefined {
    this.#dropGone();
    const first = this.#nodes[0];
    return first !== undefined && first.dueAt <= now ? this.#take() : undefined;
  }

  /** The waiting items, in no order. */
  *[Symbol.iterator](): IterableIterator<Due<T>> {
    for (const node of this.#nodes) if (!node.isGone) yield node;
  }

  #dropGone(): void {
    while (this.#nodes[0]?.isGone === true) {
      this.#take();
      this.#gone--;
    }
  }

  #take(): Node<T> | undefined {
    const first = this.#nodes[0];
    const last = this.#nodes.pop();
    if (first === undefined || last === undefined) return undefined;
    first.isGone = true;
    if (first !== last) {
      this.#nodes[0] = last;
      this.#sink(0);
    }
    return first;
  }

  #sweep(): void {
    // A sorted list is a heap.
    this.#nodes = this.#nodes.filter((node) => !node.isGone).sort(compare);
    this.#gone = 0;
  }

  #rise(from: number): void {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.#swapUnlessOrdered(parent, place)) return;
      place = parent;
    }
  }

  #sink(from: number): void {
    let place = from;
    for (;;) {
      const smaller = this.#smallerChild(place);
      if (!this.#swapUnlessOrdered(place, smaller)) return;
      place = smaller;
    }
  }

  #smallerChild(place: number): number {
    const [left, right] = [this.#nodes[2 * place + 1], this.#nodes[2 * place + 2]];
    const isRight = left !== undefined && right !== undefined && compare(right, left) < 0;
    return 2 * place + (isRight ? 2 : 1);
  }

  #swapUnlessOrdered(upper: number, lower: number): boolean {
    const [above, below] = [this.#nodes[upper], this.#nodes[lower]];
    if (above === undefined || below === undefined || compare(above, below) <= 0) return false;
    this.#nodes[upper] = below;
    this.#nodes[lower] = above;
    return true;
  }
}

/** Below this a sweep does not pay. */
const SMALL = 64;

type Node<T> = { item: T; dueAt: Instant; order: number; isGone: boolean };

function compare(a: Node<unknown>, b: Node<unknown>): number {
  return a.dueAt - b.dueAt || a.order - b.order;
}
