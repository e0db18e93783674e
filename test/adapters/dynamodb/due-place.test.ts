import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type DuePart,
  dueBounds,
  duePartition,
  duePartitions,
  duePlace,
  mergeDue,
} from "../../../lib/adapters/dynamodb/due-place.ts";
import { instantFrom, LAST_INSTANT } from "../../../lib/definition/time/instant.ts";

const FIRST = instantFrom(Number.NEGATIVE_INFINITY);
const instant = fc.integer({ min: FIRST, max: LAST_INSTANT }).map(instantFrom);
const key = { pk: "p".repeat(2_048), sk: "s".repeat(1_024) };

describe("a position in the due index", () => {
  test("has the same length for the longest key as for the shortest, at any instant", () => {
    fc.assert(
      fc.property(instant, (at) => {
        expect(duePlace(key, at)).toHaveLength(duePlace({ pk: "p", sk: "s" }, FIRST).length);
      }),
    );
  });

  test("is included by `until` as soon as its minute has come, and no minute earlier", () => {
    fc.assert(
      fc.property(instant, instant, (at, until) => {
        const bounds = dueBounds({ until });
        const hasCome = bounds !== "nowhere" && duePlace(key, at) < bounds.to;

        expect(hasCome).toBe(Math.floor(at / 60_000) <= Math.floor(until / 60_000));
      }),
    );
  });

  test("is outside a range that begins with a later minute or after itself", () => {
    const [at, until] = [instantFrom(180_001), instantFrom(600_000)];
    const place = duePlace(key, at);
    const isWithin = (bounds: ReturnType<typeof dueBounds>) =>
      bounds !== "nowhere" && place >= (bounds.from ?? "");

    expect(isWithin(dueBounds({ until, from: instantFrom(239_999) }))).toBe(true);
    expect(isWithin(dueBounds({ until, from: instantFrom(240_000) }))).toBe(false);
    expect(isWithin(dueBounds({ until, after: place }))).toBe(false);
    expect(isWithin(dueBounds({ until, after: place.slice(0, -1) }))).toBe(true);
    expect(dueBounds({ until: instantFrom(0), after: place })).toBe("nowhere");
  });

  test("is in one of the partitions of its slice", () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(1, 2, 4, 8, 16, 32), (pk, of) => {
        const slices = Array.from({ length: of }, (_, index) => duePartitions({ index, of }));

        expect(slices.flat()).toHaveLength(32);
        expect(slices.filter((slice) => slice.includes(duePartition(pk)))).toHaveLength(1);
      }),
    );
  });
});

describe("the parts of a slice", () => {
  test("merge into pages that contain every row once and in order, wherever each was cut", () => {
    const partitions = fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 99 })), { maxLength: 4 });
    const size = fc.integer({ min: 1, max: 7 });
    fc.assert(
      fc.property(partitions, size, size, (sets, partLimit, limit) => {
        const places = sets.map((set, n) => set.map((at) => `${pad(at)}.${n}`).sort());

        const told: string[] = [];
        for (let after: string | undefined = ""; after !== undefined; ) {
          const parts = places.map((part) => read(part, after ?? "", partLimit));
          const page = mergeDue(parts, limit);
          expect(page.items.length).toBeLessThanOrEqual(limit);
          told.push(...page.items.map(({ sk }) => sk));
          after = page.next;
        }

        expect(told).toEqual(places.flat().sort());
      }),
    );
  });
});

/** As a query does: it says that there may be more when it stopped at the limit. */
function read(places: readonly string[], after: string, limit: number): DuePart {
  const rest = places.filter((place) => place > after);
  const rows = rest.slice(0, limit).map((place) => ({ place, key: { pk: "p", sk: place } }));
  return { rows, more: rest.length >= limit };
}

function pad(value: number): string {
  return String(value).padStart(3, "0");
}
