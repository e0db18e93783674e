// A data folder has one owner at a time, because a second one would not know the first one's timers
// and running tasks. The owner holds a lock of the operating system on `owner.lock` for as long as
// it lives: kill -9 or a power cut releases it. `owner.json` only names the owner in error
// messages.

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { EngineError } from "../../ports/engine-error.ts";

/** A folder that is ours alone until released. */
export type DataFolder = Readonly<{
  path: string;
  databaseFile: string;
  /** Where the store marks the durable end of its log. */
  markFile: string;
  /** Throws once an open file is no longer the one in the folder, or has become shorter. */
  checkFiles(): void;
  /** Closes the database and leaves its log as it is, for a folder that is to be restored. */
  keepLog(close: () => void): void;
  release(): void;
}>;

/** Creates the folder if needed and becomes its owner; throws an error that names another owner. */
export function ownDataFolder(folder: string): DataFolder {
  const path = resolve(folder);
  createFolder(path);
  const lock = takeLock(path);
  try {
    writeFileSync(join(path, "owner.json"), `${JSON.stringify({ pid: process.pid })}\n`);
  } catch (cause) {
    lock.close();
    throw unusable(path, cause);
  }
  const databaseFile = join(path, "store.db");
  const truncated = new Set<string>();
  return {
    path,
    databaseFile,
    markFile: join(path, "store.mark"),
    checkFiles: fileCheck(path, OPEN_FILES, (name) => truncated.add(name)),
    keepLog: (close) => keepLog(databaseFile, truncated.has("store.db"), close),
    release: () => lock.close(),
  };
}

/** Bytes to which SQLite itself shortens a log that has grown beyond them. */
export const LOG_BYTES_KEPT = 64 * 1024 * 1024;

type OpenFile = Readonly<{ name: string; mayShrinkTo?: number }>;

/** Nothing else of what the engine writes ever gets shorter while it runs. */
const OPEN_FILES: readonly OpenFile[] = [
  { name: "owner.lock" },
  { name: "store.db" },
  { name: "store.db-wal", mayShrinkTo: LOG_BYTES_KEPT },
];

/** Remembers what each check finds; throws when a file is missing, replaced or shorter since. */
function fileCheck(
  path: string,
  files: readonly OpenFile[],
  onTruncated: (name: string) => void,
): () => void {
  const known = new Map<string, Readonly<{ ino: bigint; size: bigint }>>();
  return () => {
    for (const { name, mayShrinkTo = Number.POSITIVE_INFINITY } of files) {
      const found = statSync(join(path, name), { bigint: true, throwIfNoEntry: false });
      const before = known.get(name);
      if (before !== undefined && found?.ino !== before.ino)
        throw lost(path, name, "removed or replaced");
      const isShorter = found && before && found.size < before.size && found.size < mayShrinkTo;
      if (isShorter) {
        onTruncated(name);
        throw lost(path, name, "truncated");
      }
      if (found !== undefined) known.set(name, found);
    }
  };
}

/**
 * SQLite leaves the log of a database file alone that is not where it was opened. The log of a file
 * that was truncated gets another name: with it the folder would open, without what was cut off.
 */
function keepLog(databaseFile: string, isTruncated: boolean, close: () => void): void {
  const moved = `${databaseFile}.closing`;
  const isThere = existsSync(databaseFile);
  if (isThere) renameSync(databaseFile, moved);
  try {
    close();
  } finally {
    if (isThere) renameSync(moved, databaseFile);
    const log = `${databaseFile}-wal`;
    if (isTruncated && existsSync(log)) renameSync(log, `${log}.kept`);
  }
}

function lost(path: string, name: string, how: string): EngineError {
  return new EngineError("store/files-removed", {
    happened: `${name} was ${how} while the engine was running; the engine has stopped`,
    where: path,
    fix: "Stop the process and put the whole folder back from a backup; nothing is acknowledged any more.",
    stopsEngine: true,
  });
}

function createFolder(path: string): void {
  try {
    const firstCreated = mkdirSync(path, { recursive: true });
    if (firstCreated !== undefined) syncFolders(path, dirname(firstCreated));
  } catch (cause) {
    throw unusable(path, cause);
  }
}

/** A new folder survives a power cut only when the folder above it was flushed as well. */
function syncFolders(from: string, upTo: string): void {
  if (process.platform === "win32") return; // folders cannot be flushed there
  for (let path = from; ; path = dirname(path)) {
    const handle = openSync(path, "r");
    try {
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    if (path === upTo || path === dirname(path)) return;
  }
}

/** SQLite's lock on an empty database works on every system, and inside one process too. */
function takeLock(path: string): DatabaseSync {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(join(path, "owner.lock"));
    lock.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    return lock;
  } catch (cause) {
    lock?.close();
    throw isLocked(cause) ? inUse(path) : unusable(path, cause);
  }
}

function isLocked(cause: unknown): boolean {
  return cause instanceof Error && "errcode" in cause && cause.errcode === 5;
}

function inUse(path: string): EngineError {
  const pid = readOwner(path);
  const who = pid === process.pid ? "this process already" : `process ${pid ?? "(unknown)"}`;
  return new EngineError("store/folder-in-use", {
    happened: `The data folder is in use by ${who}`,
    where: path,
    fix: "Stop that engine first, or give this one a folder of its own.",
  });
}

function readOwner(path: string): number | undefined {
  try {
    const owner: unknown = JSON.parse(readFileSync(join(path, "owner.json"), "utf8"));
    const hasPid = typeof owner === "object" && owner !== null && "pid" in owner;
    return hasPid && typeof owner.pid === "number" ? owner.pid : undefined;
  } catch {
    return undefined; // only for the message; the lock decides
  }
}

function unusable(path: string, cause: unknown): EngineError {
  return new EngineError("store/folder-unusable", {
    happened: `The data folder cannot be used: ${cause instanceof Error ? cause.message : cause}`,
    where: path,
    fix: "Give a path where this user may create a folder and write to it.",
    cause,
  });
}
