/** JSON text of a value, or a TypeError that names the place where it is not JSON. */
export function jsonText(value: unknown, of: string, what: Part): string {
  const found = isPlain(value, 0) ? undefined : findIn(value, new Set());
  if (found) {
    const place = `The ${what} of ${of}${found.path === "" ? "" : `: ${found.path.slice(1)}`}`;
    throw new TypeError(`${place} ${found.problem}, which JSON cannot hold.`);
  }
  return JSON.stringify(value);
}

/** What of something the value is, for messages. */
type Part = "input" | "payload" | "result";

/** Most values are plain, which is found out without looking for a place. */
function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return value - value === 0;
    case "object":
      return value === null || (depth < MAX_DEPTH && isPlainInside(value, depth + 1));
    case "undefined":
    case "bigint":
    case "function":
    case "symbol":
      return false;
  }
}

function isPlainInside(value: object, depth: number): boolean {
  const proto: unknown = Object.getPrototypeOf(value);
  if (proto !== Object.prototype && proto !== Array.prototype) return false;
  const names = Object.keys(value);
  if (proto === Array.prototype && names.length !== (value as unknown[]).length) return false;
  for (let at = 0; at < names.length; at++) {
    if (!isPlain((value as Record<string, unknown>)[names[at] as string], depth)) return false;
  }
  return true;
}

type Found = Readonly<{ path: string; problem: string }>;

/** A `Date` travels as its text; a property that is undefined is left out. */
function findIn(value: unknown, around: Set<object>): Found | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : here(`is ${value}`);
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

function findInside(value: object, around: Set<object>): Found | undefined {
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? here("is an invalid date") : undefined;
  }
  if (around.has(value)) return here("contains itself");
  if (around.size >= MAX_DEPTH) return here(`is nested deeper than ${MAX_DEPTH}`);
  const carried = carriedOf(value);
  if (carried !== value) {
    around.add(value);
    const found = findIn(carried, around);
    around.delete(value);
    return found;
  }
  if (value instanceof Promise) return here("is a promise; await it first");
  if (value instanceof Map || value instanceof Set) return here(`is a ${value.constructor.name}`);
  around.add(value);
  for (const [name, part] of Object.entries(value)) {
    if (part === undefined && !Array.isArray(value)) continue;
    const found = findIn(part, around);
    if (found) return { ...found, path: `.${name}${found.path}` };
  }
  around.delete(value);
  return Array.isArray(value) && Object.keys(value).length < value.length
    ? here("has holes")
    : undefined;
}

/** What stands for a value in JSON: itself, where it does not say otherwise. */
const carriedOf = (value: object): unknown =>
  "toJSON" in value && typeof value.toJSON === "function" ? value.toJSON() : value;

const here = (problem: string): Found => ({ path: "", problem });

/** The engine's own limit of values inside each other. */
const MAX_DEPTH = 200;
