import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { FORMATS, type Kind, oldestRead, parseBody } from "../../../lib/engine/storage/formats.ts";
import type { Item } from "../../../lib/ports/store.ts";
import { CHAIN, storeEveryKind, TASKS, WAITING, WORKFLOWS } from "../../support/every-kind.ts";
import { HANDLERS } from "../../support/every-newer-kind.ts";
import { aPlainWorld, type PlainWorld } from "../../support/plain-world.ts";
import { READ, worldOf } from "../../support/stored-world.ts";

const PAGE = { limit: 200 };

describe.each(READ)("data stored by an engine of format %i", (format) => {
  test("continues: an instance at a task", async () => {
    const { engine, drain } = await worldOf(format);
    const view = await engine.get(WAITING.task);
    const { items } = await engine.tasks({ instanceId: WAITING.task }, PAGE);

    await engine.completeTask(items[0]?.taskId ?? "", { variables: { done: true } });
    await drain();

    expect(view).toMatchObject({ businessKey: "A-1", tags: ["express"], status: "suspended" });
    expect(await engine.result(WAITING.task)).toMatchObject({
      status: "succeeded",
      variables: { orderId: "A-1", customer: { name: "Ada", since: 1815 }, done: true },
    });
  });

  test("continues: a task with a handler, whose message comes now", async () => {
    const { engine, queued, drain } = await worldOf(format);
    const [wait] = (await engine.waits(WAITING.engineTask)).items;
    const ticket = wait?.taskId?.split(".").slice(1).join(".") ?? "";
    const about = { tenant: "default", instanceId: WAITING.engineTask };

    queued.push({ kind: "task", ...about, ticket, attempt: 1, type: "add" });
    await drain();

    expect((await engine.result(WAITING.engineTask)).variables).toEqual({ n: 40 + CHAIN });
  });

  test("continues: an instance at a timer", async () => {
    const { engine, queued, drain, now, moveTo } = await worldOf(format);
    moveTo(now() + 3_600_000);

    const about = { tenant: "default", instanceId: WAITING.timer };
    queued.push({ kind: "timer", ...about, ticket: "t1.1" });
    await drain();

    expect((await engine.get(WAITING.timer)).status).toBe("succeeded");
  });

  test("continues: instances that wait for a signal, once and repeatedly", async () => {
    const { engine, drain } = await worldOf(format);

    const approved = await engine.signal({ name: "approved", payload: { by: "me" } });
    const nudged = await engine.signal({ name: "nudge" });
    await drain();

    expect([approved.deliveredCount, nudged.deliveredCount]).toEqual([1, 1]);
    expect((await engine.result(WAITING.signal)).variables).toMatchObject({ by: "me" });
    const { items } = await engine.history(WAITING.staying, PAGE);
    expect(items.filter(({ type }) => type === "signal-received")).toHaveLength(2);
  });

  test("continues: an instance that waits for a message", async () => {
    const { engine, drain } = await worldOf(format);

    const name = { name: "payment", correlationKey: "order-1" };
    const answer = await engine.message({ ...name, payload: { paid: 3 } });
    await drain();

    expect(answer).toMatchObject({ outcome: "delivered", instanceId: WAITING.message });
    expect((await engine.result(WAITING.message)).variables).toMatchObject({ paid: 3 });
  });

  test("continues: an instance that waits for an event, with an unread one", async () => {
    const { engine, drain } = await worldOf(format);

    const again = await engine.event({
      name: "note",
      target: WAITING.event,
      id: "note-1",
      payload: "unread",
    });
    await engine.event({ name: "never", target: WAITING.event, payload: "now" });
    await drain();

    expect(again.outcome).toBe("queued");
    expect((await engine.result(WAITING.event)).result).toBe("now");
  });

  test("continues: an instance at an incident", async () => {
    const { engine, drain } = await worldOf(format);
    const [incident] = (await engine.get(WAITING.incident)).incidents;

    await engine.resolveIncident(WAITING.incident, incident?.incidentId ?? "", {
      variables: { n: 2 },
    });
    await drain();

    expect((await engine.get(WAITING.incident)).status).toBe("succeeded");
  });

  test("is read: history that was moved out of its instance, without a gap", async () => {
    const { engine } = await worldOf(format);

    const first = await engine.history("ended", PAGE);
    const second = await engine.history("ended", { ...PAGE, cursor: first.nextCursor ?? "" });

    const items = [...first.items, ...second.items];
    expect(items.map(({ seq }) => seq)).toEqual(items.map((_, n) => n + 1));
    expect(items.filter(({ type }) => type === "task-completed")).toHaveLength(CHAIN);
    expect((await engine.get("ended")).completedElements).toHaveLength(CHAIN + 2);
  });

  test("counts: ids that were used, messages that are kept, dead letters, receipts", async () => {
    const { engine } = await worldOf(format);
    const letter = { name: "letter", correlationKey: "nobody", timeToLive: "P30D" };

    const repeated = await engine.message({ ...letter, payload: { a: 1 }, messageId: "m2" });
    const reused = engine.event({ name: "other", id: "news-1" });

    expect(repeated.outcome).toBe("duplicate");
    await expect(reused).rejects.toMatchObject({ code: "request/key-reused" });
    expect((await engine.deadLetters({}, PAGE)).items).toMatchObject([{ id: "words-1" }]);
    expect(await engine.receipt("nudge-1")).toMatchObject({ complete: true, delivered: 1 });
    // Newer formats have definitions of what they brought.
    expect((await engine.definitions(PAGE)).items).toHaveLength(format < 4 ? 11 : 27);
    expect((await engine.source("order", 1)).text).toContain("<process");
    expect(await engine.eventType("news")).toMatchObject({ deliveryMode: "All", declared: true });
  });

  test("starts: definitions that start by a signal or a message", async () => {
    const { engine, drain } = await worldOf(format);

    const opened = await engine.signal({ name: "opened", payload: { n: 2 } });
    const ordered = await engine.message({ name: "ordered", correlationKey: "y" });
    await drain();

    expect(opened.startedCount).toBe(1);
    expect(ordered.outcome).toBe("started");
  });
});

describe("the number of older formats that are read", () => {
  const files = readdirSync("test/fixtures/stored").flatMap((name) => {
    const [, format] = /^format-(\d+)\.json$/.exec(name) ?? [];
    return format === undefined ? [] : [Number(format)];
  });

  test("is two for instances, each proved by a fixture file of that format", () => {
    expect(READ).toEqual([FORMATS.instance - 2, FORMATS.instance - 1, FORMATS.instance]);
    expect(files.sort()).toEqual(READ);
  });

  test("is unlimited for what is never rewritten: definitions, history and values", () => {
    const lasting: readonly (readonly [Kind, object])[] = [
      ["definition", { f: 1, id: "p", body: {}, elements: [], startEvents: [] }],
      ["chunk", { f: 1, q: 1, a: 1 }],
      ["value", { f: 1, v: "text" }],
    ];

    for (const [kind, stored] of lasting) {
      const body = new TextEncoder().encode(JSON.stringify(stored));
      expect(oldestRead(kind)).toBe(1);
      expect(parseBody(kind, body)).toEqual(stored);
    }
  });

  test("is what the page about formats says", () => {
    const page = readFileSync("docs/explanation/formats.md", "utf8");
    const written = [...page.matchAll(/^\| ([a-z ]+) \| `[^|]*` \| (\d+) \|/gm)];
    const formats = new Map(written.map(([, kind, format]) => [kind, Number(format)]));

    expect(page).toContain("reads the format that it writes and the two before");
    expect(formats.get("instance")).toBe(FORMATS.instance);
    expect(formats.get("definition")).toBe(FORMATS.definition);
    expect(formats.get("history that has left an instance")).toBe(FORMATS.chunk);
  });
});

describe("data of a newer engine", () => {
  const kinds = Object.keys(FORMATS) as Kind[];

  test.each(kinds)("is refused with a retryable error: %s", (kind) => {
    const body = new TextEncoder().encode(JSON.stringify({ f: FORMATS[kind] + 1 }));

    const code = kind === "instance" ? "instance/format-too-new" : "store/item-too-new";
    expect(() => parseBody(kind, body)).toThrow(expect.objectContaining({ code, retryable: true }));
  });

  test("is distinguished from data three formats old, which would be misread", () => {
    const body = new TextEncoder().encode(JSON.stringify({ f: FORMATS.instance - 3 }));

    expect(() => parseBody("instance", body)).toThrow(
      expect.objectContaining({ code: "store/item-too-old", retryable: false }),
    );
  });

  /** An item of each kind by its key, and a call that needs it. */
  const needed: readonly [Kind, RegExp, (world: PlainWorld) => Promise<unknown>][] = [
    ["instance", /#I#at-task S$/, ({ engine }) => engine.cancel(WAITING.task)],
    ["chunk", /#I#ended T#/, ({ engine }) => engine.history("ended", PAGE)],
    ["definition", /#D#order V#/, ({ engine }) => engine.start("order")],
    ["latest", /#D#order LATEST$/, ({ engine }) => engine.start("order")],
    ["definition-version", /#D#order N#/, ({ engine }) => engine.definition("order", 1)],
    ["head", /#G#approved H$/, ({ engine }) => engine.signal({ name: "approved" })],
    ["row", /#G#approved#1.0 /, ({ engine }) => engine.signal({ name: "approved" })],
    ["broadcast", /#B#nudge-1 H$/, ({ engine }) => engine.receipt("nudge-1")],
    ["page", /#B#nudge-1 P#/, ({ engine }) => engine.receipt("nudge-1")],
    ["road", /#B#nudge-1 R#/, ({ engine }) => engine.receipt("nudge-1")],
    [
      "mailbox",
      /#M#payment#/,
      ({ engine }) => engine.message({ name: "payment", correlationKey: "order-1" }),
    ],
    [
      "message-start",
      /#N#ordered /,
      ({ engine }) => engine.message({ name: "ordered", correlationKey: "z" }),
    ],
    [
      "event-id",
      /#V#news-1 /,
      ({ engine }) => engine.event({ name: "news", id: "news-1", payload: { n: 1 } }),
    ],
    ["dead-letter", /#X#words-1 /, ({ engine }) => engine.replayDeadLetter("words-1")],
    ["timer-start", /#D#by-timer TS#/, ({ engine }) => engine.removeSchedule("by-timer~start")],
    ["task-type", /#J#carry H$/, ({ engine }) => engine.taskType("carry")],
  ];

  /** The same with lists, which show all but these. */
  type List = (world: PlainWorld) => Promise<Readonly<{ items: readonly unknown[] }>>;
  const listed: readonly [Kind, RegExp, List][] = [
    ["offer", /#J#work#0 /, ({ engine }) => engine.tasks({ type: "work" }, PAGE)],
    ["offer", /#U#a#anna /, ({ engine }) => engine.tasks({ assignee: "anna" }, PAGE)],
    ["timer-start", /#D#by-timer TS#/, ({ engine }) => engine.schedules(PAGE)],
    ["dead-letter", /#X#words-1 /, ({ engine }) => engine.deadLetters({}, PAGE)],
  ];

  test.each(listed)("stays as it is, and is in no list: %s", async (kind, key, list) => {
    const { store, newer, later } = await besideNewer(kind, key);

    const { items } = await list(later);

    expect(items).toEqual([]);
    expect(newer.length).toBeGreaterThan(0);
    expect(itemsAt(store, newer)).toEqual(newer);
  });

  test.each(needed)("stays as it is, whatever reads it: %s", async (kind, key, call) => {
    const { store, newer, later } = await besideNewer(kind, key);

    const outcome = call(later);

    await expect(outcome).rejects.toMatchObject({ retryable: true });
    expect(newer.length).toBeGreaterThan(0);
    expect(itemsAt(store, newer)).toEqual(newer);
  });
});

/** A world in which a newer engine has written every item with such a key. */
async function besideNewer(kind: Kind, key: RegExp) {
  const store = new SimulatedStore({});
  const known = { store, tasks: TASKS, handlers: HANDLERS, workflows: WORKFLOWS };
  await storeEveryKind(aPlainWorld(known));
  const newer = store
    .items()
    .filter((item) => key.test(nameOf(item)))
    .map((item) => newerThan(kind, item));
  for (const put of newer) await overwrite(store, put);
  return { store, newer, later: aPlainWorld(known) };
}

/** The stored contents of these items. */
function itemsAt(store: SimulatedStore, items: readonly Item[]): readonly Item[] {
  const names = new Set(items.map(nameOf));
  return store.items().filter((item) => names.has(nameOf(item)));
}

const nameOf = ({ key }: Item): string => `${key.pk} ${key.sk}`;

/** The same item as an engine that is one format ahead would write it. */
function newerThan(kind: Kind, item: Item): Item {
  const said: object = JSON.parse(new TextDecoder().decode(item.body));
  const body = new TextEncoder().encode(JSON.stringify({ ...said, f: FORMATS[kind] + 1 }));
  return { ...item, body };
}

/** No writer replaces an item under its own version; here it has to look as if it always was. */
async function overwrite(store: SimulatedStore, put: Item): Promise<void> {
  await store.commit([{ remove: put.key, when: "exists" }]);
  await store.commit([{ put, when: "absent" }]);
}
