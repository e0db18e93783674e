import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareByUtf8 } from "../../lib/ports/key-order.ts";

describe("the order of keys", () => {
  test("is that of their UTF-8 bytes", () => {
    const text = fc.string({ unit: "binary", maxLength: 6 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const byBytes = Buffer.compare(Buffer.from(a), Buffer.from(b));
        expect(Math.sign(compareByUtf8(a, b))).toBe(byBytes);
      }),
    );
  });

  test("puts a surrogate pair after U+FFFD, which JavaScript does not", () => {
    expect(compareByUtf8("\ufffd", "🙂")).toBeLessThan(0);
    expect("\ufffd" < "🙂").toBe(false);
  });
});
