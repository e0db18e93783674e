// The limits of the disk and of an embedded database, without an engine: one put of a 700-byte item
// under its version, with its index rows, alone and in groups of 64; in the main thread and in a
// worker thread. `--lmdb FOLDER` adds lmdb from a folder where it is installed. The figures and the
// decision that followed: docs/decisions/0002-embedded-store.md.

import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { readCommandLine } from "../scripts/command-line.ts";

/** A bare database under test: makes every put of a group durable before it returns. */
type Bare = Readonly<{ putAll(puts: readonly Put[]): void | Promise<void>; close(): unknown }>;
type Put = Readonly<{ pk: string; version: number; startedAt: number }>;
type Figures = Readonly<{ startsGrouped: number; stepsGrouped: number; stepsAlone: number }>;

const GROUP = 64;
const ITEMS = 16_000;
const ALONE = 2_000;
const body = new Uint8Array(700).fill(65);

/** Runs the access pattern on node:sqlite in this thread: the limit to print next to the engine. */
export async function measureCeiling(): Promise<Figures> {
  return inFolder((folder) => measure(openSqlite(folder)));
}

if (isMainThread && process.argv[1] === import.meta.filename) await main();
if (!isMainThread && workerData?.folder !== undefined) serveAsWorker(String(workerData.folder));

async function main(): Promise<void> {
  const { lmdb: installed } = readCommandLine(import.meta.filename, {
    options: { lmdb: { type: "string" } },
  }).values;
  const rows: [string, Figures][] = [
    ["node:sqlite, main thread", await measureCeiling()],
    ["node:sqlite, worker thread", await inFolder((folder) => measure(openWorker(folder)))],
  ];
  if (installed !== undefined) {
    rows.push([
      "lmdb, main thread",
      await inFolder((folder) => measure(openLmdb(installed, folder))),
    ]);
  }
  process.stdout.write("puts a second, durable        starts by 64   steps by 64   steps alone\n");
  for (const [name, figures] of rows) {
    const cells = [figures.startsGrouped, figures.stepsGrouped, figures.stepsAlone];
    process.stdout.write(
      `${name.padEnd(28) + cells.map((cell) => String(cell).padStart(14)).join("")}\n`,
    );
  }
}

async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "fermata-ceiling-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(bare: Bare): Promise<Figures> {
  const keys = Array.from({ length: ITEMS }, (_, n) => ({
    pk: `default#I#${randomUUID()}`,
    startedAt: 1_700_000_000_000 + n,
  }));
  const puts = (version: number) => keys.map((key) => ({ ...key, version }));
  const startsGrouped = await rate(bare, puts(1), GROUP);
  const stepsGrouped = await rate(bare, puts(2), GROUP);
  const stepsAlone = await rate(bare, puts(3).slice(0, ALONE), 1);
  await bare.close();
  return { startsGrouped, stepsGrouped, stepsAlone };
}

async function rate(bare: Bare, puts: readonly Put[], group: number): Promise<number> {
  const begin = performance.now();
  for (let n = 0; n < puts.length; n += group) await bare.putAll(puts.slice(n, n + group));
  return Math.round((puts.length / (performance.now() - begin)) * 1_000);
}

function openSqlite(folder: string): Bare {
  const db = new DatabaseSync(join(folder, "ceiling.db"));
  for (const pragma of ["journal_mode=WAL", "synchronous=FULL", "cache_size=-65536"]) {
    db.exec(`PRAGMA ${pragma}`);
  }
  db.exec(`CREATE TABLE items (pk TEXT, sk TEXT, version INTEGER, body BLOB, look_at INTEGER,
             list_view TEXT, list_order TEXT);
           CREATE UNIQUE INDEX by_key ON items (pk, sk);
           CREATE INDEX by_look_at ON items (look_at) WHERE look_at IS NOT NULL;
           CREATE INDEX by_view ON items (list_view, list_order) WHERE list_view IS NOT NULL;`);
  const [begin, commit] = [db.prepare("BEGIN IMMEDIATE"), db.prepare("COMMIT")];
  const insert = db.prepare("INSERT INTO items VALUES (?, 'S', ?, ?, 0, 'default#L#live', ?)");
  const update = db.prepare(
    "UPDATE items SET version = ?, body = ? WHERE pk = ? AND sk = 'S' AND version = ? AND look_at IS 0",
  );
  const run = (put: Put): number | bigint =>
    put.version === 1
      ? insert.run(...startOf(put)).changes
      : update.run(put.version, body, put.pk, put.version - 1).changes;
  return {
    putAll(puts) {
      begin.run();
      for (const put of puts) if (run(put) !== 1) throw new Error(`not put: ${put.pk}`);
      commit.run();
    },
    close: () => db.close(),
  };
}

function startOf(put: Put): SQLInputValue[] {
  return [put.pk, put.version, body, `${put.startedAt}#${put.pk}`];
}

function openWorker(folder: string): Bare {
  const worker = new Worker(import.meta.filename, { workerData: { folder } });
  return {
    putAll(puts) {
      worker.postMessage(puts.map((put) => ({ ...put, body })));
      return new Promise((resolve) => worker.once("message", () => resolve()));
    },
    close: () => worker.terminate(),
  };
}

function serveAsWorker(folder: string): void {
  const bare = openSqlite(folder);
  parentPort?.on("message", (puts: readonly Put[]) => {
    void Promise.resolve(bare.putAll(puts)).then(() => parentPort?.postMessage("durable"));
  });
}

/** The part of lmdb's interface used here; the package is not a dependency of this project. */
type Lmdb = Readonly<{
  openDB(name: string, options: object): Lmdb;
  transactionSync(change: () => void): void;
  get(key: unknown): Uint8Array | undefined;
  putSync(key: unknown, value: Uint8Array): void;
  close(): Promise<void>;
}>;

function openLmdb(installed: string, folder: string): Bare {
  const load = createRequire(join(installed, "package.json"));
  const lmdb: { open(options: object): Lmdb } = load("lmdb");
  // Without overlappingSync a transaction resolves only once it is on the disk, as ours must.
  const root = lmdb.open({ path: folder, maxDbs: 4, overlappingSync: false, encoding: "binary" });
  const [items, due, listed] = ["items", "due", "listed"].map((name) =>
    root.openDB(name, { encoding: "binary" }),
  );
  const none = new Uint8Array(0);
  return {
    putAll(puts) {
      root.transactionSync(() => {
        for (const put of puts) {
          const key = [put.pk, "S"];
          const current = items?.get(key);
          if ((current?.[0] ?? 0) !== put.version - 1) throw new Error(`not put: ${put.pk}`);
          const image = body.slice();
          image[0] = put.version;
          items?.putSync(key, image);
          if (put.version === 1) due?.putSync([0, ...key], none);
          if (put.version === 1) listed?.putSync(["default#L#live", put.startedAt, ...key], none);
        }
      });
    },
    close: () => root.close(),
  };
}
