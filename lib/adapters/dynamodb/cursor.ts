import { createHash } from "node:crypto";
import { cursorInvalid } from "../../ports/store-rules.ts";

/** The query that a cursor belongs to: its kind, and its subject. */
export type Question = readonly [kind: "scan" | "list" | "due", about: string];

/** A position as text, valid for this query only. */
export function cursorFor(question: Question, position: readonly string[]): string {
  return Buffer.from(JSON.stringify([markOf(question), ...position])).toString("base64url");
}

/**
 * The position that `cursorFor` wrote; throws when the cursor belongs to another query, or is not
 * ours.
 */
export function parseCursor(question: Question, cursor: string): readonly string[] {
  const [mark, ...position] = parseTexts(cursor);
  if (mark !== markOf(question) || position.length !== LENGTHS[question[0]]) {
    throw cursorInvalid(cursor);
  }
  return position;
}

/** A scan stops at an sk, a listing at an order and a key, a due query at a place. */
const LENGTHS = { scan: 1, list: 3, due: 1 } as const;

function markOf([kind, about]: Question): string {
  return createHash("sha256").update(`${kind}\0${about}`).digest("base64url").slice(0, 8);
}

function parseTexts(cursor: string): readonly string[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (Array.isArray(parsed) && parsed.every((part) => typeof part === "string")) return parsed;
  } catch {
    // Not a cursor of ours, as below.
  }
  throw cursorInvalid(cursor);
}
