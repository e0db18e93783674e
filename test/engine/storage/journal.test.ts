import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { MAX_CHUNK_JOURNAL_BYTES } from "../../../lib/definition/limits.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { readJournal } from "../../../lib/engine/storage/chunks.ts";
import { journalBytes, leavingOf } from "../../../lib/engine/storage/packed-journal.ts";
import { enterInJournal, note, openTicket } from "../../../lib/kernel/draft.ts";
import type { Instance } from "../../../lib/kernel/instance.ts";
import type { Runner } from "../../../lib/kernel/runner.ts";
import type { JournalEntry } from "../../../lib/kernel/trail.ts";
import { task, type Workflow } from "../../support/generator-runner.ts";
import { aPlainWorld } from "../../support/plain-world.ts";
import { play } from "../../support/play.ts";

const TASKS = 60;

const program: Workflow = function* () {
  for (let n = 0; n < TASKS; n += 1) yield task("write", { n });
  return null;
};

/** A program that has recorded this many outcomes. */
async function aLongProgram() {
  const store = new SimulatedStore({});
  const tasks = { write: ({ n = 0 }) => ({ text: `${n} of this length` }) };
  const world = aPlainWorld({ store, tasks, workflows: new Map([["program", program]]) });
  await world.engine.deploy({ notation: "code", source: "program" });
  await world.engine.start("program", { instanceId: "i" });
  await world.drain();
  const instance = world.commits.at(-1);
  if (instance === undefined) throw new Error("nothing was committed");
  const chunks = store.items().filter(({ key }) => key.sk.startsWith("T#"));
  return { ...world, store, instance, chunks };
}

const outcomeOf = (n: number) => ({ value: { text: `${n} of this length` } });

describe("a journal", () => {
  test("is moved out of its instance with the history, and is read as a whole", async () => {
    const { store, instance, chunks } = await aLongProgram();

    const entries = await readJournal({ store }, instance);

    expect(chunks.length).toBeGreaterThan(2);
    expect(instance.journal?.entries.length).toBeLessThan(TASKS);
    expect(entries.map(([, , outcome]) => outcome)).toEqual(
      Array.from({ length: TASKS }, (_, n) => outcomeOf(n)),
    );
  });

  test("records in its chunks how far each of them goes", async () => {
    const { chunks } = await aLongProgram();

    const ends = chunks.map(({ key }) => Number(key.sk.split("#")[3]));

    expect(ends).toEqual(ends.toSorted((a, b) => a - b));
    expect(new Set(ends).size).toBe(ends.length);
  });

  test.each([0, 1])("ends before a chunk that is missing: the one at %i", async (missing) => {
    const { store, instance, chunks } = await aLongProgram();
    const key = chunks[missing]?.key ?? { pk: "", sk: "" };
    await store.commit([{ remove: key, when: "exists" }]);

    const entries = await readJournal({ store }, instance);

    expect(entries.length).toBeLessThan(TASKS - (instance.journal?.entries.length ?? 0));
    expect(entries.map(([, , outcome]) => outcome)).toEqual(
      Array.from(entries, (_, n) => outcomeOf(n)),
    );
  });

  test("is not read for another run", async () => {
    const { store, instance } = await aLongProgram();
    const runAt = instantFrom(instance.lastNow + 1);
    const entry: JournalEntry = [7, runAt, "of the new run"];
    const next: Instance = { ...instance, runAt, journal: { next: 2, entries: [entry] } };

    expect(await readJournal({ store }, next)).toEqual([entry]);
  });

  test("is empty for an instance that has none", async () => {
    const { store, instance } = await aLongProgram();
    const { journal: _, ...without } = instance;

    expect(await readJournal({ store }, without)).toEqual([]);
  });
});

describe("the part of a journal that is moved out", () => {
  const at = instantFrom(1_800_000_000_000);
  const bytesOfOne = journalBytes({ next: 2, entries: [[1, at, ""]] });
  const filling = (bytes: number): JournalEntry => [1, at, "x".repeat(bytes - bytesOfOne)];

  test("has at most as many bytes as a chunk has space for", () => {
    const most = { next: 2, entries: [filling(MAX_CHUNK_JOURNAL_BYTES)] };
    const more = { next: 2, entries: [filling(MAX_CHUNK_JOURNAL_BYTES + 1)] };

    expect(journalBytes(most)).toBe(MAX_CHUNK_JOURNAL_BYTES);
    expect(leavingOf(most)).toEqual(most);
    expect(leavingOf(more)).toBeUndefined();
  });

  test("is the oldest, and keeps its numbers", () => {
    const entries = Array.from({ length: 4 }, () => filling(MAX_CHUNK_JOURNAL_BYTES / 3));

    expect(leavingOf({ next: 9, entries })).toEqual({ next: 7, entries: entries.slice(0, 2) });
    expect(leavingOf({ next: 5, entries: [] })).toBeUndefined();
  });
});

describe("an outcome that a runner records", () => {
  /** A runner that keeps nothing but its journal: it is called repeatedly, and waits. */
  const runner: Runner = {
    start: async (draft) => void openTicket(draft, { ...CALL, ref: 0 }),
    resume: async (draft, _, ticket) => {
      note(draft, "task-completed", ticket.element);
      draft.tickets = [];
      enterInJournal(draft, 3, "thirty bytes or so of a result");
      openTicket(draft, { ...CALL, ref: ticket.ref + 1 });
    },
    patch: () => {},
    assign: async () => {},
    occurrences: () => 0,
    terminate: () => {},
    taskInput: () => ({ variables: {}, headers: {} }),
    callInput: () => ({}),
    view: () => ({ variables: {}, tokens: [] }),
    places: () => [],
    result: () => null,
  };
  const CALL = { on: "task", element: "call", type: "call", attempt: 1, retries: 3 } as const;
  const definition = {
    id: "p",
    version: 1,
    hash: "hash",
    notation: "code",
    body: { runner: "code", program: { workflow: "w", engine: "none" } },
    elements: ["call"],
    startEvents: [],
  } as const;

  test("is completed by the kernel, in order and with the time of its step", async () => {
    const order = await play({ definition, runner });
    await order.complete("call");
    order.now += 5;
    await order.complete("call");

    const { journal } = order.instance;
    expect(journal?.next).toBe(3);
    expect(journal?.entries.map(([element, time]) => [element, time - order.now])).toEqual([
      [3, -5],
      [3, 0],
    ]);
  });
});
