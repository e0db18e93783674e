import type { Json } from "../../definition/json.ts";
import { charge, type Run, warn } from "./run.ts";
import { isoText } from "./temporal.ts";
import { isContext, isTemporal, typeOf } from "./values.ts";

/**
 * The JSON of a FEEL value: temporal values become their ISO text; numbers that JSON cannot
 * represent, ranges and functions become null.
 */
export function toJson(value: unknown, run: Run): Json {
  switch (typeof value) {
    case "string":
      charge(run, value.length >> 4);
      return value;
    case "boolean":
      return value;
    case "number":
      if (Number.isFinite(value)) return value === 0 ? 0 : value;
      return warn(run, "a number is too large or not defined");
    case "undefined":
      return null;
    case "object":
    case "function":
    case "bigint":
    case "symbol":
      return value === null ? null : structureToJson(value, run);
  }
}

function structureToJson(value: unknown, run: Run): Json {
  // Shared parts make a small value a huge text: every visit is charged.
  charge(run, 1);
  if (Array.isArray(value)) return listToJson(value, run);
  if (isContext(value)) return contextToJson(value, run);
  if (isTemporal(value)) return isoText(value);
  return warn(run, `a ${typeOf(value)} cannot leave an expression`);
}

function listToJson(list: readonly unknown[], run: Run): Json {
  charge(run, list.length);
  return list.map((item) => toJson(item, run));
}

function contextToJson(context: Readonly<Record<string, unknown>>, run: Run): Json {
  const entries = Object.entries(context);
  charge(run, entries.length);
  return Object.fromEntries(entries.map(([name, value]) => [name, toJson(value, run)]));
}
