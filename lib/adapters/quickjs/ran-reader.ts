import { MAX_OPERATIONS_PER_FEED } from "../../definition/limits.ts";
import type { Feed, Operation, Ran } from "../../definition/sandbox.ts";
import { Stopped } from "./machine.ts";
import { misused, parseRan } from "./parse-ran.ts";
import type { TextFeed, TextRan } from "./program.ts";

/** What goes into a machine: the outcome as text, nothing for the first feed. */
export const textFeed = ({ now, done }: Feed): TextFeed => ({
  now,
  done: done === undefined ? "" : JSON.stringify(done),
});

/** Reads what the feeds of one session led to; a session that says what cannot be is discarded. */
export class RanReader {
  readonly #discard: () => void;
  /** The number of the operation that is opened next. */
  #next = 1;

  constructor(discard: () => void) {
    this.#discard = discard;
  }

  readAll(texts: readonly TextRan[]): readonly Ran[] {
    const all: Ran[] = [];
    for (const text of texts) {
      const ran = this.#read(text);
      all.push(ran);
      if (ran.kind === "stopped") break;
    }
    return all;
  }

  #read(text: TextRan): Ran {
    if (typeof text !== "string") return { kind: "stopped", ...text };
    try {
      const ran = parseRan(text);
      if (ran.operations.length > MAX_OPERATIONS_PER_FEED) throw tooMany();
      for (const operation of ran.operations) this.#count(operation);
      return ran;
    } catch (cause) {
      if (!(cause instanceof Stopped)) throw cause;
      this.#discard();
      return { kind: "stopped", stop: cause.stop, message: cause.message };
    }
  }

  /** Operations are numbered without gaps, and only what was opened is closed. */
  #count(operation: Operation): void {
    if (operation.op === "publish") return;
    if (operation.op !== "close") {
      if (operation.n !== this.#next) throw misused("An operation has the wrong number.");
      this.#next += 1;
    } else if (operation.n < 1 || operation.n >= this.#next) {
      throw misused("It closes an operation that was never opened.");
    }
  }
}

const tooMany = (): Stopped =>
  new Stopped("operations", `A step may ask for ${MAX_OPERATIONS_PER_FEED} operations.`);
