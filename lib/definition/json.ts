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

/**
 * Says whether a value survives a trip through JSON text unchanged: finite numbers, plain objects
 * and dense lists only.
 */
export function isJson(value: unknown): value is Json {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      // JSON text has no NaN, no infinities, and no minus zero that anyone could read back.
      return Number.isFinite(value) && !Object.is(value, -0);
    case "object":
      if (value === null) return true;
      return Array.isArray(value) ? isJsonList(value) : isJsonObject(value);
    default:
      return false;
  }
}

/** The one text of a value, whatever the order of its properties: for fingerprints. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    const isObject = typeof part === "object" && part !== null && !Array.isArray(part);
    return isObject ? Object.fromEntries(Object.entries(part).sort(byName)) : part;
  });
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : 1;

function isJsonList(list: readonly unknown[]): boolean {
  for (const item of list) if (!isJson(item)) return false;
  return true;
}

function isJsonObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const entry of Object.values(value)) if (!isJson(entry)) return false;
  return true;
}
