import { cursorInvalid } from "../ports/store-rules.ts";

/** A cursor as clients see it: letters and digits that need no escapes in a URL. */
export const cursorText = (cursor: string): string => Buffer.from(cursor).toString("base64url");

/** The cursor of a text that `cursorText` wrote; throws for any other. */
export function parseCursor(text: string): string {
  const cursor = Buffer.from(text, "base64url").toString();
  if (cursor !== "" && cursorText(cursor) === text) return cursor;
  throw cursorInvalid(text);
}

/** A page of a list as clients see it. */
export function paged<P extends Readonly<{ nextCursor?: string }>>(page: P): P {
  const { nextCursor } = page;
  return nextCursor === undefined ? page : { ...page, nextCursor: cursorText(nextCursor) };
}
