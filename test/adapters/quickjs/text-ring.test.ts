import { describe, expect, test } from "vitest";
import { RING_BYTES, TextRing } from "../../../lib/adapters/quickjs/text-ring.ts";

/** Both ends of a ring, with what travels outside of it. */
function aRing() {
  const writer = new TextRing();
  const reader = new TextRing(writer.memory);
  const outside: string[] = [];
  return {
    outside,
    write: (text: string) => writer.write(text, (large) => void outside.push(large)),
    read: () => reader.read(() => outside.shift() ?? "nothing outside"),
    hasText: () => reader.hasText,
  };
}

describe("a ring of texts", () => {
  test("gives texts in order, whatever characters they have", () => {
    const { write, read, hasText } = aRing();
    const texts = ["", "a", "ä€😀", "\u0000", "x".repeat(1_000)];

    expect(hasText()).toBe(false);
    expect(texts.map(write)).toEqual(texts.map(() => true));
    expect(hasText()).toBe(true);

    expect(texts.map(read)).toEqual(texts);
    expect([hasText(), read()]).toEqual([false, undefined]);
  });

  test("has no room when it is full, and has it again when something was read", () => {
    const { write, read } = aRing();
    const text = "y".repeat(RING_BYTES / 32);

    let written = 0;
    while (write(text)) written += 1;
    const refused = write(text);
    read();
    read();
    read();
    read();

    expect(written).toBeGreaterThan(20);
    expect([refused, write(text)]).toEqual([false, true]);
  });

  test("goes around its memory many times without losing a text", () => {
    const { write, read } = aRing();
    const lengths = [0, 1, 2, 3, 4, 5, 1_021, 9_999, 20_000];
    const textAt = (n: number) => `${n}:${"z".repeat(lengths[n % lengths.length] ?? 0)}`;
    let wrote = 0;
    let got = 0;

    while (got < 2_000) {
      if (wrote < 2_000 && write(textAt(wrote))) wrote += 1;
      else expect(read()).toBe(textAt(got++));
    }

    expect([wrote, read()]).toEqual([2_000, undefined]);
  });

  test("sends large texts outside, and keeps their place", () => {
    const { write, read, outside } = aRing();
    const large = "l".repeat(RING_BYTES);

    const all = ["before", large, "between", `${large}!`, "after"];
    expect(all.map(write)).toEqual(all.map(() => true));

    expect(outside).toHaveLength(2);
    expect(all.map(read)).toEqual(all);
  });

  test("sends nothing outside while there is no room for its place", () => {
    const { write, outside } = aRing();
    while (write("f".repeat(100)));
    while (write(""));

    expect([write("g".repeat(RING_BYTES)), outside]).toEqual([false, []]);
  });
});
