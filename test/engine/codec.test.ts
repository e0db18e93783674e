import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Definition } from "../../lib/definition/definition.ts";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import { encodeChunk, parseChunk, trailBytes } from "../../lib/engine/codec.ts";
import { indexOf, readReferences, writeReferences } from "../../lib/engine/elements.ts";
import { packOwner, parseOwner } from "../../lib/engine/owner-text.ts";
import { readTrail, writeTrail } from "../../lib/engine/trail-text.ts";
import { TRAIL_TYPES, type TrailEntry } from "../../lib/kernel/trail.ts";

const definition: Definition = {
  id: "p",
  version: 1,
  hash: "hash",
  notation: "bpmn",
  body: { runner: "code", program: {} },
  elements: Array.from({ length: 50 }, (_, n) => `element-${n}`),
  startEvents: [],
};

const START = 1_800_000_000_000;

/** Entries without gaps, in the order of time. */
const trails = fc
  .record({
    first: fc.integer({ min: 1, max: 100_000 }),
    entries: fc.array(
      fc.record({
        type: fc.constantFrom(...TRAIL_TYPES),
        element: fc.option(
          fc.oneof(fc.constantFrom(...definition.elements), fc.string({ minLength: 1 })),
          { nil: undefined },
        ),
        data: fc.option(fc.jsonValue(), { nil: undefined }),
        later: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 10 ** 11 })),
      }),
    ),
  })
  .map(({ first, entries }) => {
    let at = START;
    return entries.map(({ type, element, data, later }, n): TrailEntry => {
      at += later;
      return {
        seq: first + n,
        at: instantFrom(at),
        type,
        ...(element !== undefined && { element }),
        ...(data !== undefined && { data: JSON.parse(JSON.stringify(data)) }),
      };
    });
  });

describe("history as text", () => {
  test("says everything that was in it", () => {
    fc.assert(
      fc.property(trails, (entries) => {
        const from = instantFrom(START);
        const text = JSON.parse(JSON.stringify(writeTrail(entries, from, indexOf(definition))));

        const first = entries[0]?.seq ?? 1;
        expect(readTrail(text, { first, from, definition })).toEqual(entries);
      }),
    );
  });

  test("comes back from a chunk, whatever is in it", () => {
    fc.assert(
      fc.property(trails, (entries) => {
        const startedAt = entries[0]?.at ?? instantFrom(0);
        const chunk = encodeChunk(entries, definition);
        expect(parseChunk(chunk, definition, startedAt)).toEqual(entries);
        expect(parseChunk(chunk, definition, instantFrom(startedAt + 1))).toEqual([]);
      }),
    );
  });

  test("has a letter for every type", () => {
    expect(TRAIL_TYPES.length).toBeLessThanOrEqual(26);
  });

  test("of a task in a chain takes ten bytes or so", () => {
    const at = instantFrom(START + 1_000);
    const step = (
      ["task-completed", "element-completed", "flow-taken", "element-entered"] as const
    ).map((type, n) => ({ seq: n + 1, at, type, element: `element-${20 + n}` }));

    expect(trailBytes(step, definition)).toBeLessThan(20);
  });
});

describe("references to elements", () => {
  test("come back in their order, places and ids alike", () => {
    const reference = fc.oneof(fc.nat({ max: 5_000 }), fc.string());
    const lists = fc.oneof(fc.array(fc.nat({ max: 40 })), fc.array(reference));
    fc.assert(
      fc.property(lists, (references) => {
        const written = JSON.parse(JSON.stringify(writeReferences(references)));

        expect(readReferences(written)).toEqual(references);
      }),
    );
  });

  test("of neighbours are one run", () => {
    expect(writeReferences([1, 2, 3, 4, 12])).toBe("1-4.c");
  });
});

describe("the id of an owner", () => {
  test("comes back, whatever it is", () => {
    const ids = fc.oneof(
      fc.uuid(),
      fc.string(),
      fc.uuid().map((id) => id.toUpperCase()),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          ids,
          ids.map((id) => `~${id}`),
        ),
        (own) => {
          expect(parseOwner(packOwner(own))).toBe(own);
        },
      ),
    );
  });

  test("takes 23 characters where it is a UUID", () => {
    expect(packOwner("0c2f6f0e-5e0f-4d28-9a55-1d5e1b7d0a11")).toHaveLength(23);
  });
});
