// The store of a deployed engine: one table, two indexes of keys. Invariants:
//
// 1. A row is written whole and under a condition on its version; no write changes a part of one.
// 2. A write is sent once. A failure after which it may have been applied is `unknown`, never
//    retried: the engine reads and finds out. Reads are retried as the client is configured.
// 3. Conflicts carry the rows that the refusal itself returned, which are strongly consistent.
// 4. Only `due`, `list` and a stale `get` may lag.

import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Instant } from "../../definition/time/instant.ts";
import type { Meter } from "../../ports/meter.ts";
import type {
  Item,
  Key,
  ListedKey,
  Outcome,
  Page,
  Range,
  Slice,
  Store,
  Write,
} from "../../ports/store.ts";
import {
  checkKeys,
  checkRange,
  checkSlice,
  checkWrites,
  storeLimits,
} from "../../ports/store-rules.ts";
import { parseItem, parseListed } from "./attributes.ts";
import { cursorFor, parseCursor, type Question } from "./cursor.ts";
import { dueBounds, duePartitions, mergeDue } from "./due-place.ts";
import { commitFailed, readFailed } from "./failure.ts";
import { Metering } from "./metering.ts";
import { outcomeOf } from "./outcome.ts";
import { queryDue, queryPage } from "./query-rows.ts";
import { readRows } from "./read-rows.ts";
import { removeRows } from "./remove-rows.ts";
import { sendWritesOnce, sentOnce } from "./send-once.ts";
import type { TableAccess } from "./table-access.ts";
import { writeRows } from "./write-rows.ts";

/** How many pages the parts of a slice may hold together, since some rows are returned later. */
const DUE_READ_AHEAD = 4;

/** Which table, and what to use for it. */
export type DynamoDbStoreOptions = Readonly<{
  /** Used as configured, except that from now on it sends writes once. Its owner destroys it. */
  client: DynamoDBClient;
  table: string;
  /** Receives the cost of every call; replaced rows are then requested as well, which is free. */
  meter?: Meter;
  /** Chance and waiting, for tests. */
  random?: () => number;
  pause?: (ms: number) => Promise<void>;
}>;

/** A Store in a table of DynamoDB. */
export class DynamoDbStore implements Store {
  readonly #access: TableAccess;

  constructor({ client, table, meter, random, pause }: DynamoDbStoreOptions) {
    sendWritesOnce(client);
    this.#access = {
      client,
      table,
      metering: meter && new Metering(meter),
      patience: { random: random ?? Math.random, pause: pause ?? wait },
    };
  }

  async get(keys: readonly Key[], how?: { stale: true }): Promise<readonly (Item | undefined)[]> {
    checkKeys(keys);
    const rows = await this.#reading(() => readRows(this.#access, keys, how));
    return rows.map((row) => row && parseItem(row));
  }

  async commit(writes: readonly [Write, ...Write[]]): Promise<Outcome> {
    checkWrites(writes);
    const { table, metering, patience } = this.#access;
    try {
      await writeRows(this.#access, writes);
      return { kind: "committed" };
    } catch (thrown) {
      const outcome = outcomeOf(thrown, writes, patience.random);
      if (outcome === undefined) throw commitFailed(table, sentOnce(thrown));
      metering?.failed(writes, outcome);
      return outcome;
    }
  }

  async scan(pk: string, range: Range): Promise<Page<Item>> {
    checkRange(range);
    const page = await this.#reading(() => queryPage(this.#access, ["scan", pk], range));
    return { ...page, items: page.items.map(parseItem) };
  }

  async due(until: Instant, slice: Slice, after?: string, from?: Instant): Promise<Page<Key>> {
    checkSlice(slice);
    const question: Question = ["due", `${slice.index}/${slice.of}`];
    const [place] = after === undefined ? [] : parseCursor(question, after);
    const bounds = dueBounds({ until, from, after: place });
    if (bounds === "nowhere") return { items: [] };
    const partitions = duePartitions(slice);
    const most = storeLimits.duePerPage;
    const limit = Math.min(most, Math.ceil((most * DUE_READ_AHEAD) / partitions.length));
    const parts = await this.#reading(() =>
      Promise.all(
        partitions.map((partition) => queryDue(this.#access, { partition, bounds, limit })),
      ),
    );
    const { items, next } = mergeDue(parts, most);
    return next === undefined ? { items } : { items, next: cursorFor(question, [next]) };
  }

  async list(view: string, range: Range): Promise<Page<ListedKey>> {
    checkRange(range);
    const page = await this.#reading(() => queryPage(this.#access, ["list", view], range));
    return { ...page, items: page.items.map(parseListed) };
  }

  async tidy(hints: readonly Key[]): Promise<void> {
    checkKeys(hints);
    await removeRows(this.#access, hints);
  }

  /** Nothing is buffered: what was resolved is durable, and the client belongs to its owner. */
  async close(): Promise<void> {}

  async #reading<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (cause) {
      throw readFailed(this.#access.table, cause);
    }
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
