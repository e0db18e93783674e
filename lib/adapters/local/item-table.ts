import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import type { Instant } from "../../definition/time/instant.ts";
import type { Item, Key, Outcome, Write, WriteResult } from "../../ports/store.ts";
import { keyOf, sliceOf } from "../../ports/store-rules.ts";

/** Reads and changes single items by their keys; the caller brackets changes in a transaction. */
export class ItemTable {
  readonly #read: StatementSync;
  readonly #readVersion: StatementSync;
  readonly #insert: StatementSync;
  readonly #replace: StatementSync;
  readonly #replaceBody: StatementSync;
  readonly #remove: StatementSync;
  readonly #removeExpired: StatementSync;

  constructor(db: DatabaseSync) {
    this.#read = db.prepare(`SELECT ${ITEM_COLUMNS} FROM items WHERE pk = ? AND sk = ?`);
    this.#readVersion = db.prepare("SELECT version FROM items WHERE pk = ? AND sk = ?");
    this.#insert = db.prepare(`
      INSERT INTO items (pk, sk, slice, version, body, look_at, list_view, list_order, expires_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
    this.#replace = db.prepare(`
      UPDATE items SET version = ?4, body = ?5, look_at = ?6, list_view = ?7, list_order = ?8,
        expires_at = ?9
      WHERE pk = ?1 AND sk = ?2 AND version = ?3`);
    this.#replaceBody = db.prepare(`
      UPDATE items SET version = ?4, body = ?5
      WHERE pk = ?1 AND sk = ?2 AND version = ?3 AND look_at IS ?6 AND list_view IS ?7
        AND list_order IS ?8 AND expires_at IS ?9`);
    this.#remove = db.prepare("DELETE FROM items WHERE pk = ? AND sk = ?");
    this.#removeExpired = db.prepare(`
      DELETE FROM items WHERE id IN
        (SELECT id FROM items WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`);
  }

  read(key: Key): Item | undefined {
    const row = this.#read.get(key.pk, key.sk);
    return row === undefined ? undefined : parseItem(key, row);
  }

  /** Applies all writes, or none and returns which of them fail. */
  apply(writes: readonly Write[]): Outcome {
    const [only] = writes;
    if (writes.length === 1 && only !== undefined && this.#tryWrite(only)) return COMMITTED;
    const versions = writes.map((write) => this.#versionOf(keyOf(write)));
    if (!writes.every((write, n) => holds(write, versions[n]))) {
      return {
        kind: "conflict",
        current: writes.map((write, n) => this.#judge(write, versions[n])),
      };
    }
    for (const [n, write] of writes.entries()) this.#write(write, versions[n]);
    return COMMITTED;
  }

  /** Removes the item, if it is there, whatever its version. */
  remove(key: Key): void {
    this.#remove.run(key.pk, key.sk);
  }

  /** Removes up to `limit` expired items, the longest expired first. */
  removeExpired(now: Instant, limit: number): number {
    return Number(this.#removeExpired.run(now, limit).changes);
  }

  /**
   * The usual write in one statement, since most move no index entry; does nothing if its condition
   * fails.
   */
  #tryWrite(write: Write): boolean {
    if (!("put" in write) || write.when === "newer") return false;
    if (write.when === "absent") return this.#runInsert(write.put);
    const values = valuesOf(write.put, write.when.version);
    // An item with an expiry has just ended, or has a new date: its index entries do move.
    if (write.put.expiresAt === undefined && this.#replaceBody.run(...values).changes === 1) {
      return true;
    }
    return this.#replace.run(...values).changes === 1;
  }

  #judge(write: Write, stored: number | undefined): WriteResult {
    if (holds(write, stored)) return HELD;
    const item = this.read(keyOf(write));
    return { ok: false, ...(item && { item }) };
  }

  #write(write: Write, stored: number | undefined): void {
    if ("remove" in write) this.remove(write.remove);
    if (!("put" in write)) return;
    if (stored === undefined) this.#runInsert(write.put);
    else if (write.when !== "newer" || stored < write.put.version) {
      this.#replace.run(...valuesOf(write.put, stored));
    }
  }

  #versionOf(key: Key): number | undefined {
    const row = this.#readVersion.get(key.pk, key.sk);
    return row === undefined ? undefined : Number(row.version);
  }

  #runInsert(item: Item): boolean {
    const values = valuesOf(item, sliceOf(item.key.pk));
    return this.#insert.run(...values).changes === 1;
  }
}

/** The columns that parseItem reads, beside the key. */
export const ITEM_COLUMNS = "version, body, look_at, list_view, list_order, expires_at";

/** Turns a row of ITEM_COLUMNS into the item that was put. */
export function parseItem(key: Key, row: Record<string, SQLOutputValue>): Item {
  const { look_at: lookAt, list_view: view, list_order: order, expires_at: expiresAt } = row;
  return {
    key,
    version: row.version as number,
    body: row.body as Uint8Array,
    ...(lookAt !== null && { lookAt: lookAt as Instant }),
    ...(view !== null && { listed: { view: view as string, order: order as string } }),
    ...(expiresAt !== null && { expiresAt: expiresAt as Instant }),
  };
}

const COMMITTED: Outcome = { kind: "committed" };
const HELD: WriteResult = { ok: true };

function holds(write: Write, stored: number | undefined): boolean {
  if (write.when === "absent") return stored === undefined;
  if (write.when === "exists") return stored !== undefined;
  return write.when === "newer" || stored === write.when.version;
}

/** In the order that insert (third: slice) and replace (third: the version to replace) share. */
function valuesOf(item: Item, third: number): SQLInputValue[] {
  const { key, version, body, lookAt, listed, expiresAt } = item;
  return [
    key.pk,
    key.sk,
    third,
    version,
    body,
    lookAt ?? null,
    listed?.view ?? null,
    listed?.order ?? null,
    expiresAt ?? null,
  ];
}
