import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toAttributes } from "../../../lib/adapters/dynamodb/attributes.ts";
import { readUnits, sizeOf, writeUnits } from "../../../lib/adapters/dynamodb/units.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import type { Item } from "../../../lib/ports/store.ts";

describe("the size of a row", () => {
  test("is that of its names and values", () => {
    expect(sizeOf({ pk: { S: "é" }, b: { B: new Uint8Array(7) } })).toBe(2 + 2 + 1 + 7);
  });

  test.each([
    ["0", 1],
    ["7", 2],
    ["70", 2],
    ["123", 3],
    ["1234500", 4],
    ["-7", 3],
  ])("counts two digits of %s as one byte, plus one byte", (number, size) => {
    expect(sizeOf({ n: { N: number } })).toBe(1 + size);
  });
});

describe("the write units of a put", () => {
  const indexed = { lookAt: instantFrom(0), listed: { view: "v", order: "1" } };

  test("are the kilobytes of the larger row", () => {
    const [small, large] = [row({ bytes: 10 }), row({ bytes: 2_500 })];

    expect(writeUnits({ before: undefined, after: small }).table).toBe(1);
    expect(writeUnits({ before: small, after: large }).table).toBe(3);
    expect(writeUnits({ before: large, after: small }).table).toBe(3);
    expect(writeUnits({ before: large, after: undefined }).table).toBe(3);
  });

  test("are one for an index row that is added or removed, two for one that moves, none for one that stays", () => {
    const plain = row({});
    const here = row(indexed);
    const there = row({ lookAt: instantFrom(9e9), listed: { view: "v", order: "2" } });

    const units = [
      [plain, here],
      [here, here],
      [here, there],
      [there, plain],
      [here, undefined],
    ].map(([before, after]) => writeUnits({ before, after }));

    expect(units.map(({ due }) => due)).toEqual([1, 0, 2, 1, 1]);
    expect(units.map(({ listing }) => listing)).toEqual([1, 0, 2, 1, 1]);
  });

  test("do not count a timer that moves within its minute", () => {
    const before = row({ lookAt: instantFrom(60_000) });
    const after = row({ lookAt: instantFrom(119_999) });

    expect(writeUnits({ before, after }).due).toBe(0);
  });

  test("are doubled in a transaction, indexes included", () => {
    const change = { before: row({ bytes: 1_500 }), after: row(indexed) };

    expect(writeUnits(change, { inTransaction: true })).toEqual({ table: 4, due: 2, listing: 2 });
  });

  test("never fall when the row grows", () => {
    const size = fc.integer({ min: 0, max: 20_000 });
    fc.assert(
      fc.property(size, size, size, (before, after, more) => {
        const units = (bytes: number) =>
          writeUnits({ before: row({ bytes: before }), after: row({ bytes }) }).table;

        expect(units(after + more)).toBeGreaterThanOrEqual(units(after));
      }),
    );
  });
});

describe("the read units of a row", () => {
  test.each([
    [0, 1],
    [4_096, 1],
    [4_097, 2],
  ])("of %i bytes are %i, and half for an eventually consistent read", (bytes, units) => {
    expect(readUnits(bytes)).toBe(units);
    expect(readUnits(bytes, { stale: true })).toBe(units / 2);
  });
});

function row({ bytes = 10, ...parts }: Partial<Item> & { bytes?: number }) {
  const key = { pk: "p", sk: "a" };
  return toAttributes({ key, version: 1, body: new Uint8Array(bytes), ...parts });
}
