import type { Meter } from "../../ports/meter.ts";
import type { Key, Outcome, Write, WriteResult } from "../../ports/store.ts";
import { keyOf } from "../../ports/store-rules.ts";
import { type Attributes, keyAttributes, nameOf, parseKey, toAttributes } from "./attributes.ts";
import { readUnits, sizeOf, type WriteUnits, writeUnits } from "./units.ts";

/** Rows whose image is cached to know what a transaction replaces; the engine reads what it replaces. */
const MAX_IMAGES = 10_000;

/** Reports to a meter what each call of a store costs, from the rows that were read and sent. */
export class Metering {
  readonly #meter: Meter;
  /** Undefined: known to be absent. */
  readonly #images = new Map<string, Attributes | undefined>();

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  /** Each key was a separate read, found or not. */
  got(
    keys: readonly Key[],
    rows: readonly (Attributes | undefined)[],
    how?: { stale: true },
  ): void {
    for (const [n, key] of keys.entries()) {
      const row = rows[n];
      this.#meter({ of: "dynamodb-read", on: "table", units: readUnits(bytesOf(row), how) });
      this.#keep(key, row);
    }
  }

  /** One response of the table to a query, strongly consistent. */
  scanned(rows: readonly Attributes[]): void {
    this.#meter({ of: "dynamodb-read", on: "table", units: readUnits(total(rows)) });
    for (const row of rows) this.#keep(parseKey(row), row);
  }

  /** One response of an index, which is never strongly consistent. */
  queried(index: "due" | "listing", rows: readonly Attributes[]): void {
    const units = readUnits(total(rows), { stale: true });
    this.#meter({ of: "dynamodb-read", on: index, units });
  }

  /** A single write that was applied, and the row it replaced. */
  wrote(write: Write, before: Attributes | undefined): void {
    const after = rowAfter(write, before);
    this.#tell(writeUnits({ before, after }));
    this.#keep(keyOf(write), after);
  }

  /** A transaction that was applied. */
  wroteTogether(writes: readonly Write[]): void {
    for (const write of writes) {
      const before = this.#before(write);
      const after = rowAfter(write, before);
      this.#tell(writeUnits({ before, after }, { inTransaction: true }));
      this.#keep(keyOf(write), after);
    }
  }

  /**
   * A commit with another outcome. The cost of a throttle is not documented: it is counted as
   * nothing.
   */
  failed(writes: readonly Write[], outcome: Outcome): void {
    switch (outcome.kind) {
      case "committed": // A hint that lost.
        this.#refused(writes, []);
        break;
      case "conflict":
        this.#refused(writes, outcome.current.map(imageOf));
        break;
      case "unknown":
        this.#mayHaveWritten(writes);
        break;
      case "busy":
        break;
    }
  }

  /** Rows that were removed, whatever they were. */
  removed(keys: readonly Key[]): void {
    for (const key of keys) {
      this.#tell(writeUnits({ before: this.#images.get(nameOf(key)), after: undefined }));
      this.#keep(key, undefined);
    }
  }

  /** Failed conditions: the rows that exist are billed, and no index. */
  #refused(writes: readonly Write[], images: readonly (Attributes | undefined)[]): void {
    for (const [n, write] of writes.entries()) {
      const there = images[n] ?? this.#images.get(nameOf(keyOf(write)));
      this.#tell(writeUnits({ before: there, after: there }, together(writes)));
      if (images[n] !== undefined) this.#keep(keyOf(write), images[n]);
    }
  }

  /** Counted as if it had been applied; the current rows are unknown. */
  #mayHaveWritten(writes: readonly Write[]): void {
    for (const write of writes) {
      const before = this.#before(write);
      this.#tell(writeUnits({ before, after: rowAfter(write, before) }, together(writes)));
      this.#images.delete(nameOf(keyOf(write)));
    }
  }

  /** A row that this store has not read is assumed to be like the one that replaces it. */
  #before(write: Write): Attributes | undefined {
    const name = nameOf(keyOf(write));
    if (this.#images.has(name) || write.when === "absent") return this.#images.get(name);
    return "put" in write ? toAttributes(write.put) : keyAttributes(keyOf(write));
  }

  #keep(key: Key, row: Attributes | undefined): void {
    const name = nameOf(key);
    this.#images.delete(name);
    this.#images.set(name, row);
    if (this.#images.size <= MAX_IMAGES) return;
    const [oldest] = this.#images.keys();
    if (oldest !== undefined) this.#images.delete(oldest);
  }

  #tell(units: WriteUnits): void {
    for (const on of ["table", "due", "listing"] as const) {
      if (units[on] > 0) this.#meter({ of: "dynamodb-write", units: units[on], on });
    }
  }
}

function rowAfter(write: Write, before: Attributes | undefined): Attributes | undefined {
  if ("put" in write) return toAttributes(write.put);
  return "remove" in write ? undefined : before;
}

function together(writes: readonly Write[]): { inTransaction: true } | undefined {
  return writes.length > 1 || writes.some((write) => "expect" in write)
    ? { inTransaction: true }
    : undefined;
}

function imageOf(result: WriteResult): Attributes | undefined {
  return result.ok || result.item === undefined ? undefined : toAttributes(result.item);
}

function bytesOf(row: Attributes | undefined): number {
  return row === undefined ? 0 : sizeOf(row);
}

function total(rows: readonly Attributes[]): number {
  return rows.reduce((sum, row) => sum + sizeOf(row), 0);
}
