import { describe, expect, test } from "vitest";
import { cursorText, paged, parseCursor } from "../../lib/api/cursor.ts";

describe("a cursor", () => {
  test.each(["more", "001794894321125#mx-165", "ü/+ %?", '{"a":1}'])(
    "%j round-trips, and needs no escaping in a URL",
    (cursor) => {
      const text = cursorText(cursor);

      expect(encodeURIComponent(text)).toBe(text);
      expect(parseCursor(text)).toBe(cursor);
    },
  );

  test.each(["", "garbage!", "Yw==", "a", "001794894321125#mx-165"])(
    "is refused if the API did not issue it: %j",
    (text) => {
      expect(() => parseCursor(text)).toThrow(
        expect.objectContaining({ code: "store/cursor-invalid" }),
      );
    },
  );

  test("is returned only if there may be more", () => {
    const page: { items: number[]; nextCursor?: string } = { items: [1] };

    expect(paged(page)).toEqual({ items: [1] });
    expect(paged({ ...page, nextCursor: "c" })).toEqual({ items: [1], nextCursor: "Yw" });
  });
});
