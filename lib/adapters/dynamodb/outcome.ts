import {
  type CancellationReason,
  ConditionalCheckFailedException,
  TransactionCanceledException,
} from "@aws-sdk/client-dynamodb";
import type { Outcome, Write, WriteResult } from "../../ports/store.ts";
import { type Attributes, parseItem } from "./attributes.ts";
import { meaningOf } from "./failure.ts";
import { SentOnce, sentOnce } from "./send-once.ts";

/** The outcome of a failed commit; undefined: the failure is unexpected, and nothing was written. */
export function outcomeOf(
  thrown: unknown,
  writes: readonly Write[],
  random: () => number,
): Outcome | undefined {
  const failure = sentOnce(thrown);
  if (failure instanceof ConditionalCheckFailedException) return refusedAlone(failure, writes);
  if (failure instanceof TransactionCanceledException) {
    return cancelled(failure.CancellationReasons ?? [], random);
  }
  const meaning = meaningOf(failure);
  if (meaning === "busy") return busy(random);
  // A failure without SentOnce happened before anything was sent.
  return meaning === "unknown" && thrown instanceof SentOnce ? { kind: "unknown" } : undefined;
}

/** A hint that met a newer one has lost, which is fine. */
function refusedAlone(
  { Item }: ConditionalCheckFailedException,
  [write]: readonly Write[],
): Outcome {
  if (write?.when === "newer") return { kind: "committed" };
  return { kind: "conflict", current: [refused(Item)] };
}

/**
 * A cancelled transaction gives a reason for each write. Where one of them met another transaction
 * or a throttle, its condition was not evaluated, so there is nothing to decide from: retry.
 */
function cancelled(
  reasons: readonly CancellationReason[],
  random: () => number,
): Outcome | undefined {
  const codes = reasons.map(({ Code }) => Code ?? "None");
  if (codes.some((code) => PASSING.has(code))) return busy(random);
  if (!codes.every((code) => code === "None" || code === CONDITION)) return undefined;
  if (!codes.includes(CONDITION)) return undefined;
  return {
    kind: "conflict",
    current: reasons.map(({ Code, Item }) => (Code === CONDITION ? refused(Item) : { ok: true })),
  };
}

function refused(row: Attributes | undefined): WriteResult {
  const isThere = row !== undefined && Object.keys(row).length > 0;
  return isThere ? { ok: false, item: parseItem(row) } : { ok: false };
}

const CONDITION = "ConditionalCheckFailed";
const PASSING: ReadonlySet<string> = new Set([
  "ProvisionedThroughputExceeded",
  "ThrottlingError",
  "TransactionConflict",
]);

/** Jittered, so that two conflicting transactions do not meet again. */
function busy(random: () => number): Outcome {
  return { kind: "busy", retryAfterMs: 20 + Math.floor(random() * 80) };
}
