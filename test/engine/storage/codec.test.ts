import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Definition } from "../../../lib/definition/definition.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import {
  decodeInstance,
  encodeChunk,
  encodePacked,
  packInstance,
  parseChunk,
  parseChunkJournal,
  parseStored,
  trailBytes,
} from "../../../lib/engine/storage/codec.ts";
import { indexOf, readReferences, writeReferences } from "../../../lib/engine/storage/elements.ts";
import { packOwner, parseOwner } from "../../../lib/engine/storage/names.ts";
import {
  codeOf,
  countEntries,
  numberOfCode,
  readTrail,
  writeTrail,
} from "../../../lib/engine/storage/trail-text.ts";
import type { Instance } from "../../../lib/kernel/instance.ts";
import { type JournalEntry, TRAIL_TYPES, type TrailEntry } from "../../../lib/kernel/trail.ts";
import { aNew } from "../../support/play.ts";

const definition: Definition = {
  id: "p",
  version: 1,
  hash: "hash",
  notation: "bpmn",
  body: { runner: "code", program: { workflow: "w", engine: "none" } },
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
        occurrence: fc.option(fc.nat({ max: 40 }), { nil: undefined }),
        data: fc.option(fc.jsonValue(), { nil: undefined }),
        later: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 10 ** 11 })),
      }),
    ),
  })
  .map(({ first, entries }) => {
    let at = START;
    return entries.map(({ type, element, occurrence, data, later }, n): TrailEntry => {
      at += later;
      return {
        seq: first + n,
        at: instantFrom(at),
        type,
        ...(element !== undefined && { element }),
        ...(occurrence !== undefined && { occurrence }),
        ...(data !== undefined && { data: JSON.parse(JSON.stringify(data)) }),
      };
    });
  });

describe("encoded history", () => {
  test("contains everything that was in it", () => {
    fc.assert(
      fc.property(trails, (entries) => {
        const from = instantFrom(START);
        const text = JSON.parse(JSON.stringify(writeTrail(entries, from, indexOf(definition))));

        const first = entries[0]?.seq ?? 1;
        expect(countEntries(text)).toBe(entries.length);
        expect(readTrail(text, { first, from, definition })).toEqual(entries);
      }),
    );
  });

  test("is read back from a chunk, whatever is in it", () => {
    fc.assert(
      fc.property(trails, (entries) => {
        const startedAt = entries[0]?.at ?? instantFrom(0);
        const chunk = encodeChunk(entries, definition);
        expect(parseChunk(chunk, definition, startedAt)).toEqual(entries);
        expect(parseChunk(chunk, definition, instantFrom(startedAt + 1))).toEqual([]);
      }),
    );
  });

  test("has letters for every type, however many there will be", () => {
    const numbers = Array.from({ length: 1_000 }, (_, n) => n);
    const codes = numbers.map(codeOf);

    expect(codes.map(numberOfCode)).toEqual(numbers);
    expect(new Set(codes).size).toBe(numbers.length);
    expect(codes.filter((code) => !/^Z*[A-Y]$/.test(code))).toEqual([]);
    expect(TRAIL_TYPES.length).toBeLessThan(numbers.length);
  });

  test("with a type of a newer engine is left to that engine, and not misread", () => {
    const text = { t: `A${codeOf(TRAIL_TYPES.length)}3.1k` };
    const read = () => readTrail(text, { first: 1, from: instantFrom(START), definition });

    expect(read).toThrow(expect.objectContaining({ code: "store/item-too-new", retryable: true }));
  });

  test("in format 4 has no occurrences", () => {
    const text = { t: "AB0C0E1B2.1kF2.5C2" };

    const entries = readTrail(text, { first: 1, from: instantFrom(START), definition });

    expect(entries).toHaveLength(7);
    expect(entries.filter((entry) => "occurrence" in entry)).toEqual([]);
  });

  test("takes a byte or two more for all the occurrences of a chain", () => {
    const steps = Array.from({ length: 10 }, (_, n) =>
      (["element-entered", "task-completed", "element-completed"] as const).map((type) => ({
        type,
        element: `element-${n}`,
        occurrence: n + 1,
      })),
    ).flat();
    const entries = steps.map((step, n) => ({ ...step, seq: n + 1, at: instantFrom(START) }));
    const without = entries.map(({ occurrence: _, ...entry }) => entry);

    expect(trailBytes(entries, definition) - trailBytes(without, definition)).toBe(2);
  });

  test("of a task in a chain takes about ten bytes", () => {
    const at = instantFrom(START + 1_000);
    const step = (
      ["task-completed", "element-completed", "flow-taken", "element-entered"] as const
    ).map((type, n) => ({ seq: n + 1, at, type, element: `element-${20 + n}` }));

    expect(trailBytes(step, definition)).toBeLessThan(20);
  });
});

describe("a journal", () => {
  const journals = fc
    .record({
      first: fc.integer({ min: 1, max: 10_000 }),
      outcomes: fc.array(fc.tuple(fc.nat(), fc.nat({ max: 10 ** 9 }), fc.jsonValue())),
    })
    .map(({ first, outcomes }) => {
      let at = START;
      const entries = outcomes.map(([element, later, outcome]): JournalEntry => {
        at += later;
        return [element, instantFrom(at), JSON.parse(JSON.stringify(outcome))];
      });
      return { next: first + entries.length, entries };
    });

  test("is read back with its instance, and so is the start of a later run", () => {
    fc.assert(
      fc.property(journals, (journal) => {
        const startedAt = instantFrom(START);
        const runAt = instantFrom(START + 7);
        const blank = { ...aNew({ definition }), startedAt, lastNow: runAt };
        const instance: Instance = { ...blank, runAt, journal };

        const stored = parseStored(encodePacked(packInstance(instance, definition)));

        const about = { id: instance.id, tenant: instance.tenant, version: instance.version };
        expect(decodeInstance(stored, definition, about)).toEqual(instance);
      }),
    );
  });

  test("is read back from a chunk, beside the history that was moved with it", () => {
    fc.assert(
      fc.property(trails, journals, (entries, journal) => {
        const runAt = entries[0]?.at ?? instantFrom(0);
        const chunk = encodeChunk(entries, definition, journal);

        expect(parseChunk(chunk, definition, runAt)).toEqual(entries);
        expect(parseChunkJournal(chunk, runAt)).toEqual(journal);
        expect(parseChunkJournal(chunk, instantFrom(runAt + 1))).toBeUndefined();
        expect(parseChunkJournal(encodeChunk(entries, definition), runAt)).toBeUndefined();
      }),
    );
  });
});

describe("references to elements", () => {
  test("are read back in their order, indexes and ids alike", () => {
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
  test("round-trips, whatever it is", () => {
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

  test("takes 23 characters if it is a UUID", () => {
    expect(packOwner("0c2f6f0e-5e0f-4d28-9a55-1d5e1b7d0a11")).toHaveLength(23);
  });
});
