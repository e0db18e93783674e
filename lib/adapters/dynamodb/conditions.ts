import type { Write } from "../../ports/store.ts";
import type { Attributes } from "./attributes.ts";

/** The condition of a request on the current row; a refusal returns that row. */
export type Condition = Readonly<{
  ConditionExpression: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Attributes;
  ReturnValuesOnConditionCheckFailure: "ALL_OLD";
}>;

/** The condition of a write. */
export function conditionOf(write: Write): Condition {
  const { when } = write;
  if (when === "absent") return condition("attribute_not_exists(pk)");
  if (when === "exists") return condition("attribute_exists(pk)");
  if (when === "newer") {
    return condition("attribute_not_exists(pk) OR #v < :v", write.put.version);
  }
  return condition("#v = :v", when.version);
}

function condition(expression: string, version?: number): Condition {
  return {
    ConditionExpression: expression,
    ...(version !== undefined && {
      ExpressionAttributeNames: { "#v": "v" },
      ExpressionAttributeValues: { ":v": { N: String(version) } },
    }),
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  };
}
