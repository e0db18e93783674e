// The limit of an embedded database for the writes of signals and messages: the tables and indexes
// of the store, its statements and its groups, without the engine.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { migrations } from "../lib/adapters/local/store-format.ts";
import { DEFAULT_WORK_AT_ONCE } from "../lib/adapters/local/work-queue.ts";
import { ROWS_AT_ONCE } from "../lib/definition/limits.ts";

/** Bytes of the bodies, as the engine's run wrote them. */
export type Sizes = Readonly<{ instance: number; companion: number }>;

/** Operations per second. */
export type TopicFigures = Readonly<{
  /** Puts an instance and its row, 64 at once. */
  waits: number;
  /**
   * Moves an instance to its end under its version and removes its row, as many at once as a page
   * does.
   */
  deliveries: number;
  /** Moves an instance and replaces its mailbox, 64 at once. */
  messages: number;
  /** Puts a mailbox, 64 at once. */
  early: number;
}>;

const CALLERS = 64;
const ROWS = DEFAULT_WORK_AT_ONCE * ROWS_AT_ONCE;

export function measureTopicCeiling(count: number, sizes: Sizes): TopicFigures {
  const folder = mkdtempSync(join(tmpdir(), "fermata-ceiling-"));
  const db = new DatabaseSync(join(folder, "ceiling.db"));
  try {
    for (const pragma of ["journal_mode=WAL", "synchronous=FULL", "cache_size=-65536"]) {
      db.exec(`PRAGMA ${pragma}`);
    }
    for (const migrate of migrations) migrate(db);
    return measure(db, count, sizes);
  } finally {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function measure(db: DatabaseSync, count: number, sizes: Sizes): TopicFigures {
  const instance = new Uint8Array(sizes.instance).fill(65);
  const companion = new Uint8Array(sizes.companion).fill(65);
  const columns = "pk, sk, slice, version, body, list_view, list_order, expires_at";
  const put = db.prepare(`INSERT INTO items (${columns}) VALUES (?, ?, 0, 1, ?, ?, ?, NULL)`);
  const end = db.prepare(
    `UPDATE items SET version = 2, body = ?, list_view = 'default#L#succeeded#p#0', expires_at = 9
     WHERE pk = ? AND sk = 'S' AND version = 1`,
  );
  const replace = db.prepare(
    "UPDATE items SET version = 2, body = ? WHERE pk = ? AND sk = 'H' AND version = 1",
  );
  const remove = db.prepare("DELETE FROM items WHERE pk = ? AND sk = ?");
  const perSecond = (group: number, work: (n: number) => void) => rate(db, { count, group }, work);
  const live = "default#L#live#p#0";
  const putInstance = (n: number) =>
    put.run(instancePk(n), "S", instance, live, `${n}#${instancePk(n)}`);
  const putBox = (n: number) => put.run(boxPk(n), "H", companion, null, null);
  const waits = perSecond(CALLERS, (n) => {
    putInstance(n);
    put.run(SHARD, rowSk(n), companion, null, null);
  });
  const deliveries = perSecond(ROWS, (n) => {
    end.run(instance, instancePk(n));
    remove.run(SHARD, rowSk(n));
  });
  const early = perSecond(CALLERS, putBox);
  db.exec("DELETE FROM items WHERE sk = 'S'");
  rate(db, { count, group: count }, putInstance);
  const messages = perSecond(CALLERS, (n) => {
    end.run(instance, instancePk(n));
    replace.run(companion, boxPk(n));
  });
  return { waits, deliveries, messages, early };
}

function rate(
  db: DatabaseSync,
  { count, group }: Readonly<{ count: number; group: number }>,
  work: (n: number) => void,
): number {
  const begin = performance.now();
  for (let from = 0; from < count; from += group) {
    db.exec("BEGIN IMMEDIATE");
    for (let n = from; n < Math.min(count, from + group); n++) work(n);
    db.exec("COMMIT");
  }
  return (count / (performance.now() - begin)) * 1_000;
}

/** Scattered like random ids. */
const idOf = (n: number): string => `${(n * 2_654_435_761) % 4_294_967_296}-${n}`;
const instancePk = (n: number): string => `default#I#${idOf(n)}`;
const boxPk = (n: number): string => `default#M#paid#${idOf(n)}`;
const SHARD = "default#G#go#1.0";
const rowSk = (n: number): string => `${String(n).padStart(15, "0")}#${idOf(n)}#w1.1`;
