import { isVariableName } from "../../definition/expression.ts";
import type { Json, Variables } from "../../definition/json.ts";
import { accepted, type Parsed, refused } from "../../definition/parsed.ts";

/** How deep a result may be nested. */
export const MAX_RESULT_DEPTH = 200;

/**
 * Copies what a handler returned, as JSON would carry it: no value becomes an empty object, and
 * undefined properties are left out. What JSON cannot carry is refused, with its path.
 */
export function parseTaskResult(value: unknown, what: string): Parsed<Variables> {
  if (value === undefined || value === null) return accepted({});
  try {
    const copy = copyOf(value, what, []);
    if (typeof copy === "object" && copy !== null && !isList(copy)) return named(copy, what);
    return refused(`${what} is ${nameOf(value)}.`, "Return an object, or nothing at all.");
  } catch (error) {
    if (error instanceof NotJson) return refused(error.message, error.hint);
    return refused(`${what} cannot be read: ${String(error)}.`, "Return a plain object.");
  }
}

/**
 * The same for any JSON: lists and texts are results, too, and so is what JSON carries of an object of
 * a class. The SDK takes the same values inside of a workflow.
 */
export function parseJsonResult(value: unknown, what: string): Parsed<Json> {
  if (value === undefined) return accepted(null);
  try {
    return accepted(copyOf(value, what, [], asCarried));
  } catch (error) {
    if (error instanceof NotJson) return refused(error.message, error.hint);
    return refused(`${what} cannot be read: ${String(error)}.`, "Return plain values.");
  }
}

/** What is copied in place of an object; itself where its own properties are. */
type Stand = (value: object, path: string) => unknown;

/** As JSON.stringify does, apart from what it silently empties. */
const asCarried: Stand = (value, path) => {
  if ("toJSON" in value && typeof value.toJSON === "function") {
    if (!(value instanceof Date) || !Number.isNaN(value.getTime())) return value.toJSON();
    throw new NotJson(path, "is an invalid Date.", "Return a valid one, or null.");
  }
  if (isPlain(value) || Array.isArray(value)) return value;
  if (value instanceof Map || value instanceof Set || value instanceof Promise) {
    throw new NotJson(path, `is ${nameOf(value)}.`, EMPTIED);
  }
  const isPrimitive = [Number, String, Boolean].some((type) => value instanceof type);
  return isPrimitive ? value.valueOf() : value;
};

const EMPTIED =
  "JSON carries nothing of it: await a promise, and return the entries of a Map or a Set as a list.";

const onlyPlain: Stand = (value, path) => {
  if (isPlain(value) || Array.isArray(value)) return value;
  const hint =
    value instanceof Date
      ? "Use its text: date.toISOString()."
      : "Return plain objects, lists, texts, numbers, booleans and null only.";
  throw new NotJson(path, `is ${nameOf(value)}.`, hint);
};

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Every property becomes a variable, so it must be one that expressions can name. */
function named(variables: Variables, what: string): Parsed<Variables> {
  const odd = Object.keys(variables).find((name) => !isVariableName(name));
  if (odd === undefined) return accepted(variables);
  return refused(
    `${what} has the property ${JSON.stringify(odd)}, which cannot name a variable.`,
    "Use letters, digits and _, begin with no digit, and avoid the keywords of FEEL.",
  );
}

/** Characters of a place that a message shows. */
const LONGEST_PATH = 200;

class NotJson extends Error {
  readonly hint: string;

  constructor(path: string, problem: string, hint: string) {
    const isLong = path.length > LONGEST_PATH;
    super(`${isLong ? `${path.slice(0, LONGEST_PATH)}…` : path} ${problem}`);
    this.hint = hint;
  }
}

function copyOf(
  value: unknown,
  path: string,
  parents: readonly object[],
  standFor: Stand = onlyPlain,
): Json {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (Number.isFinite(value)) return value + 0; // JSON has no minus zero
      throw new NotJson(path, `is ${value}.`, "JSON has finite numbers only; use null.");
    case "bigint":
      throw new NotJson(path, `is a BigInt.`, "Use a number, or its text: String(value).");
    case "object":
      return value === null ? null : copyOfObject(value, path, parents, standFor);
    case "undefined":
    case "function":
    case "symbol":
      throw new NotJson(path, `is ${nameOf(value)}.`, "Leave it out, or return plain values.");
  }
}

function copyOfObject(
  value: object,
  path: string,
  parents: readonly object[],
  standFor: Stand,
): Json {
  if (parents.includes(value)) {
    throw new NotJson(path, `contains itself.`, "Return a tree, without cycles.");
  }
  if (parents.length >= MAX_RESULT_DEPTH) {
    throw new NotJson(path, `is nested too deeply.`, `${MAX_RESULT_DEPTH} levels are allowed.`);
  }
  const below = [...parents, value];
  const stand = standFor(value, path);
  if (stand !== value) return copyOf(stand, path, below, standFor);
  if (Array.isArray(value)) {
    return Array.from(value, (item: unknown, n) => copyOf(item, `${path}[${n}]`, below, standFor));
  }
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
  // From entries, because a property named __proto__ is a property like any other.
  return Object.fromEntries(
    entries.map(([name, entry]) => [name, copyOf(entry, `${path}.${name}`, below, standFor)]),
  );
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function nameOf(value: unknown): string {
  if (value === undefined) return "undefined";
  if (Array.isArray(value)) return "a list";
  if (typeof value !== "object" || value === null) return `a ${typeof value}`;
  const name: unknown = value.constructor?.name;
  return typeof name === "string" && name !== "" ? `a ${name}` : "an object of a class";
}
