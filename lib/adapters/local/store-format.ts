// The format of a data folder is the number of migrations it has seen; an empty folder has seen
// none. It is kept inside the database, so that a migration and its number are saved together.

import { DatabaseSync } from "node:sqlite";
import { EngineError } from "../../ports/engine-error.ts";
import { type DataFolder, LOG_BYTES_KEPT } from "./data-folder.ts";
import { explainSqlite } from "./sqlite-error.ts";

/** One step from a format to the next; never changed once released, only followed by another. */
export type Migration = (db: DatabaseSync) => void;

/** Index entries hold the rowid only: half the pages a start writes, see decision 0002. */
const createItems: Migration = (db) =>
  db.exec(`
    CREATE TABLE items (
      id INTEGER PRIMARY KEY,
      pk TEXT NOT NULL,
      sk TEXT NOT NULL,
      version INTEGER NOT NULL,
      body BLOB NOT NULL,
      slice INTEGER NOT NULL,
      look_at INTEGER,
      list_view TEXT,
      list_order TEXT,
      expires_at INTEGER
    ) STRICT;
    CREATE UNIQUE INDEX items_by_key ON items (pk, sk);
    CREATE INDEX items_by_look_at ON items (look_at) WHERE look_at IS NOT NULL;
    CREATE INDEX items_by_view ON items (list_view, list_order) WHERE list_view IS NOT NULL;
    CREATE INDEX items_by_expiry ON items (expires_at) WHERE expires_at IS NOT NULL;
  `);

/** The migrations to the current format, oldest first. */
export const migrations: readonly Migration[] = [createItems];

/** Marks the file as ours: "FERM". */
const APPLICATION_ID = 0x4645524d;

/** Flushes the log at every commit; see decision 0002 for the figures behind the sizes. */
const PRAGMAS = [
  "journal_mode = WAL",
  "synchronous = FULL",
  "cache_size = -65536", // KiB
  "wal_autocheckpoint = 1000", // pages: a checkpoint stops everything, so small ones
  `journal_size_limit = ${LOG_BYTES_KEPT}`, // the log shrinks to this after a busy hour
];

/** Opens the folder's database in the newest format; throws where this engine must not touch it. */
export function openDatabase(
  { path, databaseFile }: DataFolder,
  known: readonly Migration[] = migrations,
): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(databaseFile);
    const format = readFormat(db);
    if (format > known.length) throw tooNew(path, { found: format, known: known.length });
    for (const pragma of PRAGMAS) db.exec(`PRAGMA ${pragma}`);
    for (const [n, migrate] of known.entries()) if (n >= format) apply(db, migrate, n + 1);
    return db;
  } catch (cause) {
    db?.close();
    throw explainSqlite(cause, path, "read");
  }
}

function readFormat(db: DatabaseSync): number {
  const format = readPragma(db, "user_version");
  const owner = readPragma(db, "application_id");
  if (format === 0 && owner === 0 && readPragma(db, "schema_version") === 0) return 0;
  if (owner === APPLICATION_ID) return format;
  throw Object.assign(new Error("the file belongs to another application"), { errcode: 26 });
}

function readPragma(db: DatabaseSync, name: string): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
}

function apply(db: DatabaseSync, migrate: Migration, format: number): void {
  db.exec("BEGIN IMMEDIATE");
  migrate(db);
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${format}; COMMIT`);
}

function tooNew(path: string, { found, known }: { found: number; known: number }): EngineError {
  return new EngineError("store/format-too-new", {
    happened: `The data folder has format ${found}, and this engine knows formats up to ${known}`,
    where: path,
    fix: "Run the newer engine that wrote it, or give this one a folder of its own.",
  });
}
