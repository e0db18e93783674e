/**
 * Texts from one thread to another, through memory that both share: one writes, the other reads. That
 * takes a fraction of the time of a message.
 *
 * 1. A text is there once the count of written bytes has moved past it; the reader never sees half of
 *    one, not even when the writing thread is ended.
 * 2. Both counts only grow, modulo 2^32, which is a multiple of the size. No text is divided: what is
 *    left at the end of the memory is skipped.
 * 3. A large text travels outside of the memory, and a mark stands in its place: texts are read in the
 *    order in which they were written.
 */

/** The length of the memory of a ring. */
export const RING_BYTES = 1 << 18;

/** A text that may take more travels outside. */
const LARGEST_BYTES = RING_BYTES / 4;

const HEADER_BYTES = 8;
const WRITTEN = 0;
const READ = 1;

/** Instead of a length: the rest of the memory is skipped, or the text is outside of it. */
const SKIPPED = -1;
const OUTSIDE = -2;

export class TextRing {
  readonly memory: SharedArrayBuffer;
  readonly #counts: Int32Array;
  readonly #lengths: Int32Array;
  readonly #bytes: Buffer;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(HEADER_BYTES + RING_BYTES)) {
    this.memory = memory;
    this.#counts = new Int32Array(memory, 0, 2);
    this.#lengths = new Int32Array(memory, HEADER_BYTES);
    this.#bytes = Buffer.from(memory, HEADER_BYTES);
  }

  get hasText(): boolean {
    return Atomics.load(this.#counts, WRITTEN) !== this.#counts[READ];
  }

  /** Writes a text, or gives it to `outside` if it is large; false when there is no room. */
  write(text: string, outside: (text: string) => void): boolean {
    // A character has at most three bytes.
    const most = text.length * 3;
    const isLarge = most > LARGEST_BYTES;
    const written = this.#counts[WRITTEN] ?? 0;
    const at = this.#roomAt(written, isLarge ? 0 : most);
    if (at === undefined) return false;
    if (isLarge) outside(text);
    const length = isLarge ? 0 : this.#bytes.write(text, at + 4);
    this.#lengths[at >> 2] = isLarge ? OUTSIDE : length;
    const skipped = at < offsetOf(written) ? RING_BYTES - offsetOf(written) : 0;
    Atomics.store(this.#counts, WRITTEN, (written + skipped + framed(length)) | 0);
    return true;
  }

  /** The next text, if there is one; `outside` brings the one that is next there. */
  read(outside: () => string): string | undefined {
    if (!this.hasText) return undefined;
    const read = this.#counts[READ] ?? 0;
    const at = offsetOf(read);
    const length = this.#lengths[at >> 2] ?? 0;
    if (length === SKIPPED) {
      Atomics.store(this.#counts, READ, (read + RING_BYTES - at) | 0);
      return this.read(outside);
    }
    const text =
      length === OUTSIDE ? outside() : this.#bytes.toString("utf8", at + 4, at + 4 + length);
    Atomics.store(this.#counts, READ, (read + framed(Math.max(0, length))) | 0);
    return text;
  }

  /** Blocks the reader until something is written, for so long at most. */
  waitForText(ms: number): void {
    Atomics.wait(this.#counts, WRITTEN, this.#counts[READ] ?? 0, ms);
  }

  /** Wakes a reader that is blocked. */
  wakeReader(): void {
    Atomics.notify(this.#counts, WRITTEN);
  }

  /** Where a text of so many bytes has room; marks what is skipped before it. */
  #roomAt(written: number, bytes: number): number | undefined {
    const free = RING_BYTES - ((written - Atomics.load(this.#counts, READ)) >>> 0);
    const at = offsetOf(written);
    const before = RING_BYTES - at;
    const needed = framed(bytes);
    if (needed <= before) return needed <= free ? at : undefined;
    if (before + needed > free) return undefined;
    this.#lengths[at >> 2] = SKIPPED;
    return 0;
  }
}

const offsetOf = (count: number): number => (count >>> 0) % RING_BYTES;

/** Bytes that a text takes, with its length in front of it. */
const framed = (bytes: number): number => (bytes + 7) & ~3;
