import { MAX_VALUE_DEPTH } from "./limits.ts";

/** What variables, payloads and results are made of: plain JSON, never changed in place. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json };

/** A JSON object, seen as the variables of a scope. */
export type Variables = Readonly<Record<string, Json>>;

/** The value as variables: an object is its properties, everything else has none. */
export const variablesIn = (value: Json): Variables => (isVariables(value) ? value : {});

/** Whether a value is an object: variables by their names. */
export const isVariables = (value: Json): value is Variables =>
  typeof value === "object" && value !== null && !isList(value);

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

/**
 * Says whether a value survives a trip through JSON text unchanged: finite numbers, plain objects
 * and dense lists only.
 */
export function isJson(value: unknown): value is Json {
  return findNonJson(value) === undefined;
}

/** What is not JSON in a value: the way there and what is wrong. */
export type NonJson = Readonly<{ path: readonly string[]; problem: string }>;

/** The first place where a value is not JSON; undefined when all of it is. */
export function findNonJson(value: unknown): NonJson | undefined {
  return findIn(value, []);
}

function findIn(value: unknown, around: readonly object[]): NonJson | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      // JSON text has no NaN, no infinities, and no minus zero that anyone could read back.
      if (Number.isFinite(value) && !Object.is(value, -0)) return undefined;
      return here(`is ${Object.is(value, -0) ? "-0" : value}`);
    case "object":
      return value === null ? undefined : findInside(value, around);
    case "undefined":
      return here("is undefined");
    case "bigint":
    case "function":
    case "symbol":
      return here(`is a ${typeof value}`);
  }
}

function findInside(value: object, around: readonly object[]): NonJson | undefined {
  if (around.includes(value)) return here("contains itself");
  if (around.length >= MAX_VALUE_DEPTH) return here(`is nested deeper than ${MAX_VALUE_DEPTH}`);
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === null;
  if (!isPlain && !Array.isArray(value)) return here("is not a plain object");
  const inside = [...around, value];
  // A list is asked for its items: holes in it have no names.
  const parts: Iterable<[string | number, unknown]> = Array.isArray(value)
    ? value.entries()
    : Object.entries(value);
  for (const [name, part] of parts) {
    const found = findIn(part, inside);
    if (found) return { ...found, path: [String(name), ...found.path] };
  }
  return undefined;
}

const here = (problem: string): NonJson => ({ path: [], problem });

/** The one text of a value, whatever the order of its properties: for fingerprints. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    const isObject = typeof part === "object" && part !== null && !Array.isArray(part);
    return isObject ? Object.fromEntries(Object.entries(part).sort(byName)) : part;
  });
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : 1;
