import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import type { Instant } from "../../definition/time/instant.ts";
import { compareByUtf8 } from "../../ports/key-order.ts";
import type { Item, Key, ListedKey, Page, Range, Slice } from "../../ports/store.ts";
import { cursorInvalid, storeLimits } from "../../ports/store-rules.ts";
import { ITEM_COLUMNS, parseItem } from "./item-table.ts";

/** The range: after one instant (exclusive) up to another (inclusive), after a cursor. */
export type DueRange = Readonly<{
  after: Instant | undefined;
  until: Instant;
  slice: Slice;
  limit: number;
  cursor?: string | undefined;
}>;

/** Reads items in the order of an index. Equal places are ordered by age: index entries hold no keys. */
export class ItemIndexes {
  readonly #scan: StatementSync;
  readonly #scanBackwards: StatementSync;
  readonly #list: StatementSync;
  readonly #listBackwards: StatementSync;
  readonly #dueAt: StatementSync;
  readonly #dueAfter: StatementSync;
  readonly #earliest: StatementSync;

  constructor(db: DatabaseSync) {
    const scan = `SELECT sk, ${ITEM_COLUMNS} FROM items WHERE pk = ? AND sk >= ? AND sk < ?`;
    this.#scan = db.prepare(`${scan} ORDER BY sk LIMIT ?`);
    this.#scanBackwards = db.prepare(`${scan} ORDER BY sk DESC LIMIT ?`);
    const list = `SELECT pk, sk, id, list_order AS place FROM items
      WHERE list_view = ? AND list_order >= ? AND list_order < ?`;
    this.#list = db.prepare(
      `${list} AND (list_order > ? OR id > ?) ORDER BY list_order, id LIMIT ?`,
    );
    this.#listBackwards = db.prepare(
      `${list} AND (list_order < ? OR id < ?) ORDER BY list_order DESC, id DESC LIMIT ?`,
    );
    // Two statements, because one would scan all items of the cursor's own instant.
    const due = "SELECT pk, sk, id, look_at AS place FROM items WHERE slice % ? = ?";
    this.#dueAt = db.prepare(`${due} AND look_at = ? AND id > ? ORDER BY id LIMIT ?`);
    this.#dueAfter = db.prepare(
      `${due} AND look_at > ? AND look_at <= ? ORDER BY look_at, id LIMIT ?`,
    );
    this.#earliest = db.prepare("SELECT min(look_at) AS place FROM items WHERE look_at > ?");
  }

  scan(pk: string, range: Range): Page<Item> {
    const { after, backwards } = range;
    const cursor = after === undefined ? undefined : { from: nextAfter(after), to: after };
    const { from, to } = boundsOf(range, cursor);
    const limit = limitOf(range);
    const rows = (backwards ? this.#scanBackwards : this.#scan).all(pk, from, to, limit + 1);
    const items = rows.slice(0, limit).map((row) => parseItem(parseKey({ ...row, pk }), row));
    const last = items.at(-1);
    return rows.length > limit && last !== undefined ? { items, next: last.key.sk } : { items };
  }

  list(view: string, range: Range): Page<ListedKey> {
    const cursor = parseOrderCursor(range.after);
    const { from, to } = boundsOf(
      range,
      // The cursor's own place stays inside: others may share it.
      cursor && { from: cursor.place, to: nextAfter(cursor.place) },
    );
    const behind = cursor ?? { place: range.backwards ? AFTER_ALL_TEXT : "", id: 0 };
    const statement = range.backwards ? this.#listBackwards : this.#list;
    const limit = limitOf(range);
    const rows = statement.all(view, from, to, behind.place, behind.id, limit + 1);
    return parsePage(rows, limit, parseListed);
  }

  due(range: DueRange): Page<Key> {
    const { after, until, slice } = range;
    const cursor = parseDueCursor(range.cursor);
    const limit = limitOf(range);
    const part = [slice.of, slice.index];
    const rows: Row[] = [];
    if (cursor !== undefined && cursor.place <= until) {
      rows.push(...this.#dueAt.all(...part, cursor.place, cursor.id, limit + 1));
    }
    const start = cursor?.place ?? after ?? BEFORE_ALL_TIME;
    rows.push(...this.#dueAfter.all(...part, start, until, limit + 1 - rows.length));
    return parsePage(rows, limit, parseKey);
  }

  earliestDue(after: Instant): Instant | undefined {
    return parseInstant(this.#earliest.get(after)?.place);
  }
}

type Row = Record<string, SQLOutputValue>;
type Bounds = Readonly<{ from: string; to: string | Uint8Array }>;
type Cursor<Place> = Readonly<{ place: Place; id: number }>;

/** SQLite orders every blob after every text. */
const AFTER_ALL_TEXT = new Uint8Array(0);
const BEFORE_ALL_TIME = Number.MIN_SAFE_INTEGER;

/** No key holds NUL, so nothing sorts between a text and this one. */
function nextAfter(text: string): string {
  return `${text}\0`;
}

/** From (inclusive), to (exclusive): the range, less what the cursor has passed. */
function boundsOf({ from = "", to, backwards }: Range, cursor: Bounds | undefined): Bounds {
  if (cursor === undefined) return { from, to: to ?? AFTER_ALL_TEXT };
  if (!backwards) return { from: later(from, cursor.from), to: to ?? AFTER_ALL_TEXT };
  return { from, to: to === undefined ? cursor.to : earlier(to, cursor.to) };
}

function later(a: string, b: string): string {
  return compareByUtf8(a, b) > 0 ? a : b;
}

function earlier(a: string, b: string | Uint8Array): string | Uint8Array {
  return typeof b === "string" && compareByUtf8(a, b) > 0 ? b : a;
}

function limitOf({ limit }: Pick<Range, "limit">): number {
  return Math.min(limit, storeLimits.itemsPerPage);
}

/** One row more than the limit was read, to know whether there is a next page. */
function parsePage<T>(rows: readonly Row[], limit: number, parse: (row: Row) => T): Page<T> {
  const items = rows.slice(0, limit).map(parse);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return last === undefined ? { items } : { items, next: JSON.stringify([last.place, last.id]) };
}

function parseKey(row: Row): Key {
  return { pk: row.pk as string, sk: row.sk as string };
}

function parseListed(row: Row): ListedKey {
  return { ...parseKey(row), order: row.place as string };
}

function parseInstant(value: SQLOutputValue | undefined): Instant | undefined {
  return typeof value === "number" ? (value as Instant) : undefined;
}

function parseOrderCursor(text: string | undefined): Cursor<string> | undefined {
  if (text === undefined) return undefined;
  const { place, id } = parseCursor(text);
  if (typeof place !== "string") throw cursorInvalid(text);
  return { place, id };
}

function parseDueCursor(text: string | undefined): Cursor<number> | undefined {
  if (text === undefined) return undefined;
  const { place, id } = parseCursor(text);
  if (typeof place !== "number") throw cursorInvalid(text);
  return { place, id };
}

function parseCursor(text: string): Cursor<unknown> {
  try {
    const [place, id]: unknown[] = JSON.parse(text);
    if (Number.isSafeInteger(id)) return { place, id: Number(id) };
  } catch {
    // Not a cursor of ours, as below.
  }
  throw cursorInvalid(text);
}
