import { cursorInvalid } from "../ports/store-rules.ts";

/** A cursor as it leaves: letters and digits that survive a URL as they are. */
export const cursorText = (cursor: string): string => Buffer.from(cursor).toString("base64url");

/** The cursor that was handed out as this text; throws where none was. */
export function parseCursor(text: string): string {
  const cursor = Buffer.from(text, "base64url").toString();
  if (cursor !== "" && cursorText(cursor) === text) return cursor;
  throw cursorInvalid(text);
}

/** A page of a list as it leaves. */
export function paged<P extends Readonly<{ nextCursor?: string }>>(page: P): P {
  const { nextCursor } = page;
  return nextCursor === undefined ? page : { ...page, nextCursor: cursorText(nextCursor) };
}
