import type { z } from "zod";

/** What a schema's issue tells a caller: its own message where it has one, or else ours by its code. */
export function flawText(issue: z.core.$ZodIssue): string {
  if (!DEFAULT_MESSAGE.test(issue.message)) return issue.message;
  if (issue.code === "invalid_type") return typeText(issue);
  if (issue.code === "invalid_value") return `must be ${oneOf(issue.values.map(literal))}`;
  if (issue.code === "invalid_union") return unionText(issue);
  if (issue.code === "too_small") return sizeText(issue.origin, "at least", issue.minimum);
  if (issue.code === "too_big") return sizeText(issue.origin, "at most", issue.maximum);
  return issue.message;
}

/** How zod's own messages begin; those of our schemas do not. */
const DEFAULT_MESSAGE = /^(?:Invalid |Too (?:small|big))/;

function typeText({ expected, message }: z.core.$ZodIssueInvalidType): string {
  // The issue itself does not hold the value; its message names the type of it.
  const received = /received (\w+)$/.exec(message)?.[1] ?? "";
  if (received === "undefined") return `is missing; it must be ${aType(expected)}`;
  return received === "" || (expected === "int" && received === "number")
    ? `must be ${aType(expected)}`
    : `must be ${aType(expected)}, not ${aType(received)}`;
}

/** All that the alternatives allow, if each is a type or a value; only such unions are taken. */
function unionText({ errors }: z.core.$ZodIssueInvalidUnion): string {
  const issues = errors.map(([first]) => first);
  const values = issues.flatMap((issue) => (issue?.code === "invalid_value" ? issue.values : []));
  if (values.length === issues.length) return `must be ${oneOf(values.map(literal))}`;
  const types = issues.flatMap((issue) => (issue?.code === "invalid_type" ? issue.expected : []));
  if (types.length === issues.length) return `must be ${oneOf(types.map(aType))}`;
  // Of the right type for one alternative, whose rule it breaks.
  const broken = issues.find((issue) => issue !== undefined && issue.code !== "invalid_type");
  return broken === undefined ? "is not valid" : flawText(broken);
}

function sizeText(origin: string, bound: "at least" | "at most", size: number | bigint): string {
  if (origin === "string" || origin === "array") {
    if (bound === "at least" && Number(size) === 1) return "must not be empty";
    const unit = origin === "string" ? "character" : "item";
    return `must have ${bound} ${size} ${unit}${Number(size) === 1 ? "" : "s"}`;
  }
  return `must be ${bound} ${size}`;
}

const literal = (value: unknown): string =>
  typeof value === "bigint" ? String(value) : JSON.stringify(value);

function oneOf(choices: readonly string[]): string {
  const last = choices.at(-1) ?? "";
  return choices.length < 2 ? last : `${choices.slice(0, -1).join(", ")} or ${last}`;
}

const aType = (type: string): string => TYPES[type] ?? type;

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "an array",
};
