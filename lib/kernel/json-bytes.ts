import type { Json } from "../definition/json.ts";

/** How many bytes a value takes as JSON in UTF-8. */
export function jsonBytes(value: Json): number {
  // JSON text has no lone surrogates, so this cannot throw; each escaped byte is three characters.
  return encodeURIComponent(JSON.stringify(value)).replaceAll(/%../g, "_").length;
}
