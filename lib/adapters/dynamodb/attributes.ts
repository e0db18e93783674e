// How an item is stored in the table. One item is one row, always written whole.
//
//   pk, sk           the key, as it is
//   v, b             version and body
//   at               the exact lookAt; duePk and dueSk put the row into the index of what is due
//   listPk, listSk   view and order: the row's place in the index of listings
//   exp              the exact expiresAt, which readers check; ttl is when DynamoDB may clean up

import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { Instant } from "../../definition/time/instant.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Item, Key, ListedKey } from "../../ports/store.ts";
import { duePartition, duePlace } from "./due-place.ts";

/** A row of the table or of an index, in the format of the SDK. */
export type Attributes = Record<string, AttributeValue>;

/** The key of an item, as a row names it. */
export function keyAttributes({ pk, sk }: Key): Attributes {
  return { pk: text(pk), sk: text(sk) };
}

/** The whole row of an item. */
export function toAttributes(item: Item): Attributes {
  const { key, version, body, lookAt, listed, expiresAt } = item;
  return {
    ...keyAttributes(key),
    v: number(version),
    b: { B: body },
    ...(lookAt !== undefined && {
      at: number(lookAt),
      duePk: text(duePartition(key.pk)),
      dueSk: text(duePlace(key, lookAt)),
    }),
    ...(listed && { listPk: text(listed.view), listSk: text(listed.order) }),
    ...(expiresAt !== undefined && { exp: number(expiresAt), ttl: number(cleanUpAt(expiresAt)) }),
  };
}

/**
 * The item of a row. A row without a body was not written by the engine: its item is empty, which
 * no reader accepts.
 */
export function parseItem(row: Attributes): Item {
  const { v, b, at, exp, listPk, listSk } = row;
  return {
    key: parseKey(row),
    version: Number(v?.N ?? 0),
    body: b?.B ?? new Uint8Array(),
    ...(at?.N !== undefined && { lookAt: Number(at.N) as Instant }),
    ...(listPk?.S !== undefined &&
      listSk?.S !== undefined && { listed: { view: listPk.S, order: listSk.S } }),
    ...(exp?.N !== undefined && { expiresAt: Number(exp.N) as Instant }),
  };
}

/** The key of a row of the table or of an index: both hold it. */
export function parseKey(row: Attributes): Key {
  const { pk, sk } = row;
  if (pk?.S === undefined || sk?.S === undefined) throw notOurs(row);
  return { pk: pk.S, sk: sk.S };
}

/** The key of a row of the index of listings, and its place there. */
export function parseListed(row: Attributes): ListedKey {
  return { ...parseKey(row), order: row.listSk?.S ?? "" };
}

/** A key as text, for maps by item. */
export function nameOf({ pk, sk }: Key): string {
  return `${pk}\0${sk}`;
}

/** The keys without duplicates, which batches refuse. */
export function distinctKeys(keys: readonly Key[]): readonly Key[] {
  return [...new Map(keys.map((key) => [nameOf(key), key])).values()];
}

function text(value: string): AttributeValue {
  return { S: value };
}

function number(value: number): AttributeValue {
  return { N: String(value) };
}

/** A day late, in whole seconds: readers check the expiry, this only keeps the table small. */
function cleanUpAt(expiresAt: Instant): number {
  return Math.ceil(expiresAt / 1_000) + SECONDS_PER_DAY;
}

const SECONDS_PER_DAY = 86_400;

function notOurs({ pk, sk }: Attributes): EngineError {
  return new EngineError("store/corrupt", {
    happened: "The table holds an item that this engine did not write",
    where: `item ${pk?.S ?? "?"} / ${sk?.S ?? "?"}`,
    fix: "Give the engine a table of its own, or restore this one from a backup.",
  });
}
