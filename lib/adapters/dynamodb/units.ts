// What DynamoDB bills, from the bytes of rows. Rules, as AWS publishes them:
//
// 1. A row is as large as its attribute names and values. A text or a name counts its UTF-8, bytes
//    count themselves, a number a byte for two significant digits and one more.
// 2. A write bills the larger of the row before and after, by started KB. A transaction bills it
//    twice.
// 3. An index bills its own rows: an insert or a removal is a write, a move is two, and an
//    unchanged row costs nothing.
// 4. A strongly consistent read bills started 4 KB, a stale one half of that; a query adds its rows
//    up first.

import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { Attributes } from "./attributes.ts";

/** Write units of the table and of its indexes. */
export type WriteUnits = Readonly<{ table: number; due: number; listing: number }>;

/** The bytes that a row counts. */
export function sizeOf(row: Attributes): number {
  return Object.entries(row).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + valueSize(value),
    0,
  );
}

/** The cost of turning one row into another; absent before: an insert, absent after: a removal. */
export function writeUnits(change: Change, how?: { inTransaction: true }): WriteUnits {
  const { before, after } = change;
  const larger = Math.max(...[before, after].map((row) => (row === undefined ? 0 : sizeOf(row))));
  const times = how?.inTransaction ? 2 : 1;
  return {
    table: times * kilobytes(larger),
    due: times * indexUnits(DUE_KEYS, change),
    listing: times * indexUnits(LISTING_KEYS, change),
  };
}

/** The cost of one read of so many bytes; reading an absent row costs as well. */
export function readUnits(bytes: number, how?: { stale: true }): number {
  const strong = Math.max(1, Math.ceil(bytes / READ_UNIT_BYTES));
  return how?.stale ? strong / 2 : strong;
}

export type Change = Readonly<{ before: Attributes | undefined; after: Attributes | undefined }>;

const WRITE_UNIT_BYTES = 1_024;
const READ_UNIT_BYTES = 4_096;
const DUE_KEYS = ["duePk", "dueSk"] as const;
const LISTING_KEYS = ["listPk", "listSk"] as const;

function indexUnits(keys: readonly string[], { before, after }: Change): number {
  const [left, came] = [indexRow(keys, before), indexRow(keys, after)];
  if (left !== undefined && came !== undefined && isSame(left, came)) return 0;
  const moved = [left, came].filter((row) => row !== undefined);
  return moved.reduce((sum, row) => sum + kilobytes(sizeOf(row)), 0);
}

/** What a keys-only index holds of a row: nothing when the row is not in the index. */
function indexRow(keys: readonly string[], row: Attributes | undefined): Attributes | undefined {
  const names = ["pk", "sk", ...keys];
  const entries = Object.entries(row ?? {}).filter(([name]) => names.includes(name));
  return entries.length === names.length ? Object.fromEntries(entries) : undefined;
}

function isSame(a: Attributes, b: Attributes): boolean {
  return Object.keys(a).every((name) => a[name]?.S === b[name]?.S);
}

function kilobytes(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / WRITE_UNIT_BYTES));
}

/** Only the value types that these rows have. */
function valueSize({ S, N, B }: AttributeValue): number {
  if (S !== undefined) return Buffer.byteLength(S);
  if (B !== undefined) return B.byteLength;
  return N === undefined ? 0 : numberSize(N);
}

function numberSize(text: string): number {
  const digits = text.replace(/^-/, "").replace(/^0+|0+$/g, "");
  return Math.ceil(digits.length / 2) + 1 + (text.startsWith("-") ? 1 : 0);
}
