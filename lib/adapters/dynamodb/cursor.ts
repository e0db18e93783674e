import { createHash } from "node:crypto";
import { cursorInvalid } from "../../ports/store-rules.ts";

/** What a cursor belongs to: a kind of question, and what it was asked of. */
export type Question = readonly [kind: "scan" | "list" | "due", about: string];

/** A text that leads back to a position, for this question only. */
export function cursorFor(question: Question, position: readonly string[]): string {
  return Buffer.from(JSON.stringify([markOf(question), ...position])).toString("base64url");
}

/** The position that `cursorFor` wrote; throws when the cursor is of another question, or not ours. */
export function parseCursor(question: Question, cursor: string): readonly string[] {
  const [mark, ...position] = parseTexts(cursor);
  if (mark !== markOf(question) || position.length !== LENGTHS[question[0]]) {
    throw cursorInvalid(cursor);
  }
  return position;
}

/** A scan stops at an sk, a listing at an order and a key, what is due at a place. */
const LENGTHS = { scan: 1, list: 3, due: 1 } as const;

function markOf([kind, about]: Question): string {
  return createHash("sha256").update(`${kind}\0${about}`).digest("base64url").slice(0, 8);
}

function parseTexts(cursor: string): readonly string[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (Array.isArray(parsed) && parsed.every((part) => typeof part === "string")) return parsed;
  } catch {
    // Not ours, as below.
  }
  throw cursorInvalid(cursor);
}
