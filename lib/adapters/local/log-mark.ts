// Detects, when a folder is opened, that its log has lost acknowledged commits. Invariants:
//
// 1. `store.mark` names a position in the log of SQLite that was durable when it was written: which
//    generation of the log, and how many frames of it. It is written after each flush and never
//    flushed itself, so it may be behind, and never ahead.
// 2. A log that is shorter, or of an earlier generation, has lost its tail. A later generation is
//    fine: SQLite starts one only when all of the previous one is in the database file.
// 3. A store that was closed has no log: its mark says only that.
// 4. A folder that is refused stays as it is, so that what is missing can be put back: the check reads
//    the log itself, before SQLite opens anything.

import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { EngineError } from "../../ports/engine-error.ts";
import type { DataFolder } from "./data-folder.ts";
import { type Position, readLogEnd } from "./log-file.ts";

/** Throws when commits are missing from the folder that were acknowledged; changes nothing in it. */
export function checkLog({ path, databaseFile, markFile }: DataFolder): void {
  const text = existsSync(markFile) ? readFileSync(markFile, "utf8") : "";
  if (text !== "" && !existsSync(databaseFile)) throw logLost(path, "store.db is missing");
  const marked = parseMark(text);
  if (marked === undefined) return;
  const found = readLogEnd(`${databaseFile}-wal`);
  if (found === undefined)
    throw logLost(path, "store.db-wal is missing, or its beginning is damaged");
  if (isBehind(found, marked)) throw logLost(path, "store.db-wal ends before them");
}

/** The mark of an open store. */
export class LogMark {
  readonly #mark: number;
  readonly #index: number;
  readonly #bytes = Buffer.alloc(INDEX_BYTES);

  /** `databaseFile` is open and has been read, so that SQLite has recovered its log. */
  constructor(markFile: string, databaseFile: string) {
    this.#index = openSync(`${databaseFile}-shm`, "r");
    this.#mark = openSync(markFile, constants.O_RDWR | constants.O_CREAT, 0o644);
  }

  /** Everything up to here is durable. */
  move(): void {
    const { generation, salt, frames } = this.#position();
    const line = `${JSON.stringify([generation, salt, frames])}\n`.padEnd(MARK_BYTES);
    try {
      writeSync(this.#mark, line, 0);
    } catch {
      // The commit counts anyway: a mark that is behind only detects less.
    }
  }

  release(): void {
    closeSync(this.#index);
    closeSync(this.#mark);
  }

  /** The log is in the database file. */
  static close(markFile: string): void {
    writeFileSync(markFile, "closed\n");
  }

  /** From the index of the log, in the byte order of this machine: see "WAL-index format". */
  #position(): Position {
    readSync(this.#index, this.#bytes, 0, INDEX_BYTES, 0);
    const frames = new Uint32Array(this.#bytes.buffer, this.#bytes.byteOffset + 16, 1)[0] ?? 0;
    // As they are in the log: big-endian, on every machine.
    return { frames, generation: this.#bytes.readUInt32BE(32), salt: this.#bytes.readUInt32BE(36) };
  }
}

const INDEX_BYTES = 48;
const MARK_BYTES = 48;

/** More generations than any log sees before it is removed. */
const MAX_GENERATIONS = 2 ** 24;

function isBehind(found: Position, marked: Position): boolean {
  if (found.generation === marked.generation && found.salt === marked.salt) {
    return found.frames < marked.frames;
  }
  const ahead = (found.generation - marked.generation + 2 ** 32) % 2 ** 32;
  return ahead === 0 || ahead > MAX_GENERATIONS;
}

/** Undefined for a mark that cannot be read, or says that the store was closed. */
function parseMark(text: string): Position | undefined {
  const found = /^\[(\d+),(\d+),(\d+)\]/.exec(text);
  if (found === null) return undefined;
  const [, generation, salt, frames] = found.map(Number);
  return { generation: generation ?? 0, salt: salt ?? 0, frames: frames ?? 0 };
}

function logLost(folder: string, how: string): EngineError {
  return new EngineError("store/log-lost", {
    happened: `The data folder lacks commits that were acknowledged: ${how}`,
    where: folder,
    fix: "Nothing was changed. Restore the whole folder, `store.db-wal` included, or open it with acceptLoss (`fermata dev --accept-loss`) to go on without them. If another program opened store.db since the engine ended, nothing is lost.",
  });
}
