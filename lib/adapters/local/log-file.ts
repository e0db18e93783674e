// Reads how far SQLite's write-ahead log goes, without SQLite: opening the database would already
// recover the log, and closing it would move what is left of the log into the database file. The
// format is the one of "WAL file format" in SQLite's documentation.

import { closeSync, openSync, readSync } from "node:fs";

/** A place in the log: which generation of it, by its two salts, and how many frames. */
export type Position = Readonly<{ generation: number; salt: number; frames: number }>;

/** The end of the last commit that is whole; undefined: there is no log, or its header is damaged. */
export function readLogEnd(file: string): Position | undefined {
  let log: number;
  try {
    log = openSync(file, "r");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw cause;
  }
  try {
    return endOf(log);
  } finally {
    closeSync(log);
  }
}

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const MAGIC = 0x377f0682;

function endOf(log: number): Position | undefined {
  const header = Buffer.alloc(HEADER_BYTES);
  if (readSync(log, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return undefined;
  const magic = header.readUInt32BE(0);
  if ((magic & ~1) >>> 0 !== MAGIC) return undefined;
  const sum = new Checksum((magic & 1) === 1);
  sum.add(header, 0, 24);
  if (!sum.isAt(header, 24)) return undefined;
  const [generation, salt] = [header.readUInt32BE(16), header.readUInt32BE(20)];
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + header.readUInt32BE(8));
  let frames = 0;
  for (let n = 0; ; n++) {
    const at = HEADER_BYTES + n * frame.length;
    if (readSync(log, frame, 0, frame.length, at) < frame.length) break;
    // What an earlier generation has left behind the end of this one has other salts.
    if (frame.readUInt32BE(8) !== generation || frame.readUInt32BE(12) !== salt) break;
    sum.add(frame, 0, 8);
    sum.add(frame, FRAME_HEADER_BYTES, frame.length);
    if (!sum.isAt(frame, 16)) break;
    const isCommit = frame.readUInt32BE(4) !== 0;
    if (isCommit) frames = n + 1;
  }
  return { generation, salt, frames };
}

/** The running checksum of a log: two sums over pairs of 32-bit words. */
class Checksum {
  readonly #isBigEndian: boolean;
  #one = 0;
  #two = 0;

  constructor(isBigEndian: boolean) {
    this.#isBigEndian = isBigEndian;
  }

  add(bytes: Buffer, from: number, to: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = from; at < to; at += 8) {
      this.#one = (this.#one + view.getUint32(at, !this.#isBigEndian) + this.#two) >>> 0;
      this.#two = (this.#two + view.getUint32(at + 4, !this.#isBigEndian) + this.#one) >>> 0;
    }
  }

  /** Whether the sums stand at this place, where they are big-endian always. */
  isAt(bytes: Buffer, at: number): boolean {
    return bytes.readUInt32BE(at) === this.#one && bytes.readUInt32BE(at + 4) === this.#two;
  }
}
