// What every store refuses, so that code that works on one store works on all. A refusal is a
// mistake of the caller: it is thrown before anything is written.

import { type Instant, isInstant } from "../definition/time/instant.ts";
import { EngineError } from "./engine-error.ts";
import type { Item, Key, Range, Slice, Write } from "./store.ts";

/** The limits of one call, the same everywhere: those of the tightest store we run on. */
export const storeLimits = {
  writesPerCommit: 90,
  keysPerCall: 100,
  /** Leaves room for keys and indexes below an item limit of 400 KiB. */
  bodyBytes: 400_000,
  /** Of all bodies in one commit: with keys and encoding that stays below 4 MiB. */
  bytesPerCommit: 3_000_000,
  pkBytes: 2_048,
  skBytes: 1_024,
  /** A page never holds more, whatever limit was requested. */
  itemsPerPage: 1_000,
  /** Nor a page of due keys: a walk over them stores its progress after each page. */
  duePerPage: 100,
  slices: 32,
} as const;

/** The item that a write is about. */
export function keyOf(write: Write): Key {
  if ("put" in write) return write.put.key;
  return "remove" in write ? write.remove : write.expect;
}

/** The slice, 0 to 31, that a partition belongs to. */
export function sliceOf(pk: string): number {
  let hash = 0x811c9dc5;
  for (let n = 0; n < pk.length; n++) hash = Math.imul(hash ^ pk.charCodeAt(n), 0x01000193);
  // The low bits of this hash depend on the last characters only: fold the high bits in.
  return ((hash ^ (hash >>> 15)) >>> 0) % storeLimits.slices;
}

/** Throws unless the writes may form one commit. */
export function checkWrites(writes: readonly Write[]): void {
  for (const write of writes) checkWrite(write);
  if (writes.length === 1) return;
  if (writes.length === 0 || writes.length > storeLimits.writesPerCommit) {
    throw refused(
      `${writes.length} writes in one commit`,
      `Commit 1 to ${storeLimits.writesPerCommit}.`,
    );
  }
  checkBytes(writes);
  const seen = new Set<string>();
  for (const write of writes) {
    const { pk, sk } = keyOf(write);
    const name = `${pk}\0${sk}`;
    if (seen.has(name)) throw refused(`${pk} / ${sk} twice in one commit`, "Write each item once.");
    seen.add(name);
    if (write.when === "newer") {
      throw refused(`a hint (${pk} / ${sk}) in a transaction`, "Put it alone, before or after.");
    }
  }
}

/** Throws unless the keys may be read, or removed, together. */
export function checkKeys(keys: readonly Key[]): void {
  if (keys.length > storeLimits.keysPerCall) {
    throw refused(`${keys.length} keys in one call`, `Give at most ${storeLimits.keysPerCall}.`);
  }
  for (const key of keys) checkKey(key);
}

/** Throws unless the range is valid. */
export function checkRange({ limit }: Pick<Range, "limit">): void {
  if (Number.isSafeInteger(limit) && limit >= 1) return;
  throw refused(`limit ${limit}`, "Ask for a whole number of items, at least 1.");
}

/** Throws unless the slice is one of equal parts. */
export function checkSlice({ index, of }: Slice): void {
  const isPart = Number.isInteger(of) && of >= 1 && storeLimits.slices % of === 0;
  if (isPart && Number.isInteger(index) && index >= 0 && index < of) return;
  throw refused(
    `slice ${index} of ${of}`,
    `Use 0 <= index < of, where of divides ${storeLimits.slices}.`,
  );
}

/** The refusal of a cursor that this store did not return for this query. */
export function cursorInvalid(cursor: string): EngineError {
  return new EngineError("store/cursor-invalid", {
    happened: "The cursor does not belong to this query",
    where: `cursor ${cursor.slice(0, 80)}`,
    fix: "Query again without a cursor, and pass `nextCursor` back unchanged.",
  });
}

function checkWrite(write: Write): void {
  checkKey(keyOf(write));
  if (typeof write.when === "object") checkWhole("version", write.when.version);
  if ("put" in write) checkItem(write.put);
}

function checkBytes(writes: readonly Write[]): void {
  const bytes = writes.reduce((sum, it) => sum + ("put" in it ? it.put.body.byteLength : 0), 0);
  if (bytes <= storeLimits.bytesPerCommit) return;
  throw refused(
    `${bytes} bytes in one commit`,
    `Commit at most ${storeLimits.bytesPerCommit} and put large values into commits of their own.`,
  );
}

function checkItem({ key, version, body, lookAt, listed, expiresAt }: Item): void {
  checkWhole("version", version);
  if (body.byteLength > storeLimits.bodyBytes) {
    throw refused(
      `a body of ${body.byteLength} bytes for ${key.pk} / ${key.sk}`,
      `Keep it within ${storeLimits.bodyBytes} and put large values into items of their own.`,
    );
  }
  if (lookAt !== undefined) checkInstant("lookAt", lookAt);
  if (expiresAt !== undefined) checkInstant("expiresAt", expiresAt);
  if (listed === undefined) return;
  checkText("view", listed.view, storeLimits.pkBytes);
  checkText("order", listed.order, storeLimits.skBytes);
}

function checkKey({ pk, sk }: Key): void {
  checkText("pk", pk, storeLimits.pkBytes);
  checkText("sk", sk, storeLimits.skBytes);
}

/** Lone surrogates have no UTF-8, and NUL is reserved to separate parts of a key. */
function checkText(name: string, text: string, maxBytes: number): void {
  const fits = text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes;
  if (text !== "" && fits && text.isWellFormed() && !text.includes("\0")) return;
  throw refused(
    `${name} ${JSON.stringify(text.slice(0, 80))} of ${text.length} characters`,
    `Use 1 to ${maxBytes} bytes of well-formed text without NUL.`,
  );
}

function checkInstant(name: string, instant: Instant): void {
  if (!isInstant(instant))
    throw refused(`${name} ${instant}`, "Use an instant of the years 0 to 9999.");
}

function checkWhole(name: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 0) return;
  throw refused(`${name} ${value}`, "Use a whole number from 0 to 2^53 - 1.");
}

function refused(what: string, fix: string): EngineError {
  return new EngineError("store/call-refused", {
    happened: "The store was called in a way that no store accepts",
    where: what,
    fix,
  });
}
