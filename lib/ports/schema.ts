/** Schemas of the JSON that queues deliver: the words that they share, and how they are checked. */
import * as z from "zod/mini";
import type { Json, Variables } from "../definition/json.ts";
import { type Instant, isInstant } from "../definition/time/instant.ts";

export const text = z.string();
export const count = z.number();
export const maybe = z.exactOptional;
export const listOf = <Item extends z.ZodMiniType>(item: Item) => z.readonly(z.array(item));
export const instant = z.custom<Instant>(
  (value) => typeof value === "number" && isInstant(value),
  "no instant",
);
// What JSON.parse returned is JSON: only whether it is an object is left to check.
export const variables = z.custom<Variables>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "no object",
);
export const json = z.custom<Json>((value) => value !== undefined, "absent");

/**
 * A schema whose output is exactly `T`; the compiler refuses one that lacks a property of `T`, even
 * an optional one, and one that allows more.
 */
export const schemaOf =
  <T>() =>
  <S extends z.ZodMiniType>(schema: S & IfSame<z.output<S>, T>): S =>
    schema;

/** Anything where both types are the same, apart from `readonly`; otherwise nothing fits. */
export type IfSame<A, B> = [A, B, Whole<A>, Whole<B>] extends [B, A, Whole<B>, Whole<A>]
  ? unknown
  : "schema and type differ";

// Types that are assignable in both directions may still differ in an optional property that one of
// them lacks: so they are compared with every property required, too.
type Whole<T> = Json extends T ? T : T extends Scalar ? T : { [Name in keyof T]-?: Whole<T[Name]> };
type Scalar = string | number | boolean | null;

/** What is wrong with a value, place by place. */
export const problemsOf = ({ issues }: z.core.$ZodError): readonly string[] =>
  issues.map((issue) => {
    const place = issue.path.map(String).join(".") || "it";
    if (issue.code === "unrecognized_keys") return `${place} has unknown ${issue.keys.join(", ")}`;
    return `${place} is wrong (${problemOf(issue)})`;
  });

// By code, because the text of an issue depends on whether the full version of zod is loaded too.
function problemOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type") return `no ${issue.expected}`;
  if (issue.code === "invalid_value") return `not ${issue.values.map(String).join(" or ")}`;
  if (issue.code === "invalid_union") return "of no kind";
  return issue.message;
}
