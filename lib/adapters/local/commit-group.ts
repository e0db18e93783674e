import type { Key, Outcome, Write } from "../../ports/store.ts";
import { keyOf } from "../../ports/store-rules.ts";
import { afterMicrotasks } from "./after-microtasks.ts";

/** One commit that waits for its flush. */
export type Call = Readonly<{
  writes: readonly Write[];
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}>;

/** A commit, or hints to remove, in the order of the calls. */
export type Member = Call | Readonly<{ tidy: readonly Key[] }>;

/** The calls that become durable together, by one transaction and one flush of the disk. */
export class CommitGroup {
  readonly members: Member[] = [];
  readonly #keys = new Set<string>();
  readonly #waiting: (() => void)[] = [];
  #size = 0;

  /** How many items its members touch: this bounds the time of one flush. */
  get size(): number {
    return this.#size;
  }

  add(call: Call): void {
    this.members.push(call);
    this.#size += call.writes.length;
    for (const write of call.writes) this.#keys.add(nameOf(keyOf(write)));
  }

  addTidy(hints: readonly Key[]): void {
    this.members.push({ tidy: hints });
    this.#size += hints.length;
  }

  /** Whether a commit in here touches one of the keys. */
  touches(keys: readonly Key[]): boolean {
    return keys.some((key) => this.#keys.has(nameOf(key)));
  }

  /** Resolves when the group was flushed, successfully or not. */
  settled(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /**
   * Answers every call in order, then the waits for `settled`, all before the event loop goes on. Of
   * answers that are given in portions, what follows from one portion runs up to its next wait before
   * the next is given.
   */
  settle(answer: (call: Call, position: number) => void, perPortion = this.members.length): void {
    this.#settleFrom(0, answer, Math.max(1, perPortion));
  }

  #settleFrom(first: number, answer: (call: Call, at: number) => void, count: number): void {
    const end = Math.min(first + count, this.members.length);
    for (let at = first; at < end; at++) {
      const member = this.members[at];
      if (member && "writes" in member) answer(member, at);
    }
    if (end < this.members.length) afterMicrotasks(() => this.#settleFrom(end, answer, count));
    else for (const resume of this.#waiting) resume();
  }
}

function nameOf({ pk, sk }: Key): string {
  return `${pk}\0${sk}`;
}
