import { compareByUtf8 } from "../../ports/key-order.ts";
import type { Range } from "../../ports/store.ts";
import type { Attributes } from "./attributes.ts";

/** The names of the attributes by which the table or an index is keyed. */
export type KeyNames = Readonly<{ hash: string; sort: string }>;

/** A condition on keys, as a query states it. */
export type KeyCondition = Readonly<{
  KeyConditionExpression: string;
  ExpressionAttributeNames: Record<string, string>;
  ExpressionAttributeValues: Attributes;
}>;

/** From (inclusive) and to; `to` is exclusive only when it stands alone. */
export type Bounds = Readonly<{ from?: string; to?: string }>;

/**
 * What is left of a range after the cursor: "nowhere" when nothing can be left. A cursor outside
 * the range leaves either all of it, and is dropped, or nothing.
 */
export function restOf(
  { from = "", to, backwards }: Range,
  cursor: string | undefined,
): "nowhere" | (Bounds & Readonly<{ usesCursor: boolean }>) {
  if (to !== undefined && compareByUtf8(from, to) >= 0) return "nowhere";
  const bounds = { ...(from !== "" && { from }), ...(to !== undefined && { to }) };
  if (cursor === undefined) return { ...bounds, usesCursor: false };
  const isBefore = compareByUtf8(cursor, from) < 0;
  const isBehind = to !== undefined && compareByUtf8(cursor, to) >= 0;
  if (backwards ? isBefore : isBehind) return "nowhere";
  return { ...bounds, usesCursor: !isBefore && !isBehind };
}

/** One partition within bounds. With both bounds, `to` is inclusive: a query supports nothing else. */
export function keyCondition(
  { hash, sort }: KeyNames,
  partition: string,
  { from, to }: Bounds,
): KeyCondition {
  return {
    KeyConditionExpression: ["#hash = :hash", sortCondition({ from, to })]
      .filter((part) => part !== "")
      .join(" AND "),
    ExpressionAttributeNames: {
      "#hash": hash,
      ...((from ?? to) !== undefined && { "#sort": sort }),
    },
    ExpressionAttributeValues: {
      ":hash": { S: partition },
      ...(from !== undefined && { ":from": { S: from } }),
      ...(to !== undefined && { ":to": { S: to } }),
    },
  };
}

function sortCondition({ from, to }: { from: string | undefined; to: string | undefined }): string {
  if (from !== undefined && to !== undefined) return "#sort BETWEEN :from AND :to";
  if (from !== undefined) return "#sort >= :from";
  return to === undefined ? "" : "#sort < :to";
}
