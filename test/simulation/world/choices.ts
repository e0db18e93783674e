// Every choice of a simulated world comes from one sequence of numbers. Where it ends, every choice
// is the first one: in order, and without a fault. So a shorter sequence, or a smaller number, is
// always a tamer run, and shrinking takes the faults away first.
import fc from "fast-check";

/** 16 bits: 4 say whether something unusual happens, 12 say what. */
const LARGEST = 65_535;

/** Numbers that choices are made of; most runs are exhausted by them long before they are done. */
export const choiceSequence: fc.Arbitrary<number[]> = fc.array(fc.nat({ max: LARGEST }), {
  maxLength: 400,
  size: "max",
});

/** Makes choices out of a sequence; 0 for ever once it is exhausted. */
export class Choices {
  readonly #values: readonly number[];
  #at = 0;

  constructor(values: readonly number[] = []) {
    this.#values = values;
  }

  get isExhausted(): boolean {
    return this.#at >= this.#values.length;
  }

  /** A number from 0 to `count` - 1. */
  below(count: number): number {
    return count <= 1 ? 0 : this.#next() % count;
  }

  oneOf<T>(first: T, ...others: readonly T[]): T {
    return [first, ...others][this.below(others.length + 1)] ?? first;
  }

  /** One of `usual`, mostly the first; in `rate` of 16 cases one of `unusual`, if there is any. */
  turn<T>(usual: readonly T[], unusual: readonly T[], rate: number): T | undefined {
    const value = this.#next();
    const index = value % 4096;
    if (value >> 12 >= 16 - rate && unusual.length > 0) return unusual[index % unusual.length];
    return index < 2048 ? usual[0] : usual[index % usual.length];
  }

  #next(): number {
    return this.#values[this.#at++] ?? 0;
  }
}
