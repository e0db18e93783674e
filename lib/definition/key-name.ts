import { MAX_KEY_NAME_BYTES, MAX_NAME_LENGTH } from "./limits.ts";

/** What can stand percent-encoded in a key; `KEY_NAME_RULE` says it in words. */
export function isKeyName(text: string): boolean {
  if (text === "" || text.length > MAX_NAME_LENGTH) return false;
  if (!text.isWellFormed() || text.includes("\0")) return false;
  return encodeURIComponent(text).length <= MAX_KEY_NAME_BYTES;
}

export const KEY_NAME_RULE = `must have 1 to ${MAX_NAME_LENGTH} characters, and percent-encoded at most ${MAX_KEY_NAME_BYTES}`;
