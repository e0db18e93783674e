import {
  type CancellationReason,
  ConditionalCheckFailedException,
  TransactionCanceledException,
} from "@aws-sdk/client-dynamodb";
import type { Outcome, Write, WriteResult } from "../../ports/store.ts";
import { type Attributes, parseItem } from "./attributes.ts";
import { meaningOf } from "./failure.ts";
import { SentOnce, sentOnce } from "./send-once.ts";

/** What came of a commit that failed; undefined: nobody planned for this, and nothing was written. */
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
  // What was not sent once failed before it was sent at all.
  return meaning === "unknown" && thrown instanceof SentOnce ? { kind: "unknown" } : undefined;
}

/** A hint that met a newer one has lost, as it may. */
function refusedAlone(
  { Item }: ConditionalCheckFailedException,
  [write]: readonly Write[],
): Outcome {
  if (write?.when === "newer") return { kind: "committed" };
  return { kind: "conflict", current: [refused(Item)] };
}

/**
 * A transaction says of each write why it did not happen. Where one of them met another transaction
 * or a throttle nobody looked at its condition, so there is nothing to decide from: try again.
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

/** Spread out, so that those who met once do not meet again. */
function busy(random: () => number): Outcome {
  return { kind: "busy", retryAfterMs: 20 + Math.floor(random() * 80) };
}
