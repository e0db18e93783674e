import { describe, expect, test } from "vitest";
import type { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { UNREADABLE_TASK_REST_MS } from "../../../lib/definition/limits.ts";
import { encodeBody, FORMATS, type Kind } from "../../../lib/engine/storage/formats.ts";
import { turnKey, walkKey } from "../../../lib/engine/storage/keys.ts";
import type { ErrorCode } from "../../../lib/ports/engine-error.ts";
import type { Item } from "../../../lib/ports/store.ts";
import { TASKS, WAITING, WORKFLOWS } from "../../support/every-kind.ts";
import { HANDLERS, NEWER } from "../../support/every-newer-kind.ts";
import { ALSO } from "../../support/every-wait.ts";
import { event, type Workflow } from "../../support/generator-runner.ts";
import { aPlainWorld, type PlainWorld } from "../../support/plain-world.ts";
import { worldOf } from "../../support/stored-world.ts";
import { NEWS_READER, type Tour, tour } from "../../support/tour.ts";

/** What a stop of the tour loses; or that it needs the item itself, and gets the error. */
type Loss = readonly string[] | "refused";
type Losses = Readonly<Record<string, Loss>>;

/** One item of a kind, by its key, and everything that may be missing while it cannot be read. */
type Case = Readonly<{
  item: RegExp;
  loses: Losses;
  /** What else waits if a newer engine will read it. */
  newer?: Losses;
}>;

const atTask: Losses = {
  "list of instances": ["at-task"],
  "list by definition": ["at-task"],
  "list by business key": ["at-task"],
  "list by tag": ["at-task"],
  "list of tasks": ["at-task.k1.2"],
  "list of tasks of a type": ["at-task.k1.2"],
  "poll for work": ["at-task.k1.2"],
  "completion of a task": "refused",
  purge: ["at-task purged"],
};
const atPerson = ["at-person.k1.1"];
const members = ["f1.1#10", "f1.1#11", "f1.1#4", "f1.1#5", "f1.1#6", "f1.1#7", "f1.1#8", "f1.1#9"];
const atFamily = [...members, "k5.1"].map((ticket) => `at-family.${ticket}`);
const CHILD = "tJ16zElRoAEV8VPv777OaA";

/** Every kind: a new one without an entry here does not compile. */
const CASES: Readonly<Record<Kind, readonly Case[]>> = {
  instance: [
    { item: /#I#at-task S$/, loses: atTask },
    {
      item: /#I#at-signal S$/,
      loses: {
        "list of instances": ["at-signal"],
        "signal to a wait": ["2 delivered"],
        purge: ["at-signal purged"],
      },
    },
    {
      item: /#I#at-staying S$/,
      loses: {
        "list of instances": ["at-staying"],
        "list of tasks": ["at-staying.k1.2"],
        "list of tasks of a type": ["at-staying.k1.2"],
        "poll for work": ["at-staying.k1.2"],
        "signal to a wait that stays": ["1 delivered"],
      },
    },
    {
      item: /#I#at-message S$/,
      loses: {
        "list of instances": ["at-message"],
        "message to a wait": "refused",
        purge: ["at-message purged"],
      },
    },
    {
      item: /#I#at-event S$/,
      loses: {
        "list of instances": ["at-event"],
        "event to an instance": "refused",
        "event to all": "refused",
        purge: ["at-event purged"],
      },
    },
    {
      item: /#I#at-timer S$/,
      loses: { "list of instances": ["at-timer"], sweep: ["at-timer"], wheel: ["at-timer"] },
    },
    {
      item: /#I#at-person S$/,
      loses: {
        "list of instances": ["at-person"],
        "list of tasks": atPerson,
        "list of a user's tasks": atPerson,
        "list of a candidate's tasks": atPerson,
        "list of a group's tasks": atPerson,
        "list of user tasks": atPerson,
      },
    },
    {
      item: /#I#at-family S$/,
      loses: {
        "list of instances": ["at-family"],
        "list of tasks": atFamily,
        "poll for pack": atFamily,
      },
    },
    {
      item: /#I#at-call S$/,
      loses: {
        "list of instances": ["at-call"],
        // Its result is kept for the call that cannot be read.
        "completion of a child": "refused",
        purge: ["at-call purged", `${CHILD} purged`],
      },
    },
    {
      item: new RegExp(`#I#${CHILD} S$`),
      loses: {
        "list of instances": [CHILD],
        "list of tasks": [`${CHILD}.k1.1`],
        "completion of a child": "refused",
        purge: ["at-call purged", `${CHILD} purged`],
      },
    },
    {
      item: /#I#at-incident S$/,
      loses: { "list of instances": ["at-incident"], "list of incidents": ["at-incident"] },
    },
    {
      item: /#I#ended S$/,
      loses: { "list of instances": ["ended"], history: "refused", purge: ["ended purged"] },
    },
  ],
  chunk: [{ item: /#I#ended T#/, loses: { history: "refused" } }],
  value: [
    {
      item: /#I#with-large-value V#/,
      loses: {
        "list of instances": ["with-large-value"],
        "list of tasks": ["with-large-value.k1.1"],
        "poll for carry": ["with-large-value.k1.1"],
        "start of another definition": ["with-large-value"],
      },
    },
  ],
  definition: [{ item: /#D#order V#/, loses: { ...atTask, "list of definitions": ["order"] } }],
  latest: [
    { item: /#D#order LATEST$/, loses: { "list of definitions": ["order"] } },
    {
      item: /#D#by-message LATEST$/,
      loses: { "list of definitions": ["by-message"], "message that starts": ["started"] },
      newer: { "message that starts": "refused" },
    },
    {
      item: /#D#by-signal LATEST$/,
      loses: { "list of definitions": ["by-signal"], "signal that starts": ["1 started"] },
    },
  ],
  "definition-version": [
    {
      item: /#D#chain N#/,
      loses: { "list of definitions": ["chain"], "list of versions": ["chain"] },
    },
  ],
  head: [{ item: /#G#nudge H$/, loses: { "signal to a wait that stays": "refused" } }],
  place: [{ item: /#G#nudge Q#/, loses: {} }],
  row: [
    {
      item: /#G#approved#1.0 /,
      loses: { "signal to a wait": ["2 delivered"], purge: ["at-signal purged"] },
      // The broadcast waits for the newer engine, and so do all its recipients.
      newer: {
        "signal to a wait": "refused",
        purge: ["at-signal purged", "fresh-approval purged"],
      },
    },
    {
      item: /#G#opened#1.0 /,
      loses: { "signal that starts": ["1 started"] },
      newer: { "signal that starts": "refused" },
    },
    {
      item: /#Y#never#1.0 /,
      loses: { "event to all": ["succeeded"], purge: ["at-event purged"] },
      newer: { "event to all": "refused" },
    },
  ],
  broadcast: [
    { item: /#B#nudge-1 H$/, loses: { receipt: "refused", "split of a broadcast": "refused" } },
  ],
  page: [{ item: /#B#nudge-1 P#/, loses: { receipt: "refused" } }],
  road: [{ item: /#B#nudge-1 R#/, loses: { receipt: "refused" } }],
  turn: [{ item: /#B#nudge-1 U#/, loses: { "split of a broadcast": "refused" } }],
  mailbox: [
    {
      item: /#M#payment#/,
      loses: { "message to a wait": "refused", purge: ["at-message purged"] },
    },
  ],
  "message-start": [
    {
      item: /#N#ordered /,
      loses: { "message that starts": ["started"] },
      newer: { "message that starts": "refused" },
    },
  ],
  "kept-event": [
    {
      item: /#Y#news E#/,
      loses: {
        "event of an id that was used": "refused",
        "a wait for kept events": ['{"n":1}'],
      },
      newer: { "a wait for kept events": "refused", purge: ["fresh-reader purged"] },
    },
  ],
  "event-id": [{ item: /#V#news-1 /, loses: { "event of an id that was used": "refused" } }],
  "dead-letter": [{ item: /#X#words-1 /, loses: { "list of dead letters": ["words-1"] } }],
  offer: [
    {
      item: /#J#work#0 .*at-task/,
      loses: {
        "list of tasks": ["at-task.k1.2"],
        "list of tasks of a type": ["at-task.k1.2"],
        "poll for work": ["at-task.k1.2"],
      },
    },
    { item: /#J#carry#0 L#/, loses: { "list of tasks": ["at-locked.k1.1"] } },
    { item: /#U#a#anna /, loses: { "list of a user's tasks": atPerson } },
    { item: /#U#g#sales /, loses: { "list of a group's tasks": atPerson } },
    {
      item: /#U#all .*at-person/,
      loses: { "list of tasks": atPerson, "list of user tasks": atPerson },
    },
  ],
  "timer-start": [
    {
      item: /#D#by-timer TS#/,
      loses: {
        "list of schedules": ["by-timer~start"],
        sweep: ["by-timer"],
        wheel: ["by-timer"],
      },
    },
  ],
  "task-type": [
    {
      item: /#J#work H$/,
      loses: { "task type": "refused" },
      // Only the newer engine knows the shards of its tasks.
      newer: { "signal that starts": ["1 started"] },
    },
  ],
  "member-claim": [{ item: /#I#at-sealed U#f1.1#0/, loses: {} }],
};

const NEWER_ENGINE = "is of a newer engine";

const DAMAGES: Readonly<Record<string, (kind: Kind, body: Uint8Array) => Uint8Array>> = {
  "has one flipped bit": (_, body) => body.with(0, (body[0] ?? 0) ^ 4),
  "is cut off": (_, body) => body.slice(0, Math.floor(body.length / 2)),
  "is no text": (_, body) => body.map((byte) => byte | 0x80),
  "says nothing that it should": (kind) => encodeBody(kind, { x: 1 }),
  [NEWER_ENGINE]: (kind, body) =>
    bytes(JSON.stringify({ ...JSON.parse(new TextDecoder().decode(body)), f: FORMATS[kind] + 1 })),
};

/** The error for a caller that needs an item that cannot be read. */
const PROMISED: readonly string[] = [
  "store/corrupt",
  "store/item-too-new",
  "instance/format-too-new",
  // It was accepted, and is delivered once the item can be read.
  "engine/outcome-unknown",
] satisfies readonly ErrorCode[];

/** The first item of a kind with every damage, the others with one of each effect. */
const rows = (Object.keys(CASES) as Kind[]).flatMap((kind) =>
  CASES[kind].flatMap((one, n) =>
    Object.keys(DAMAGES)
      .filter((damage) => n === 0 || damage === "is cut off" || damage === NEWER_ENGINE)
      .map((damage) => ({ kind, damage, what: one.item.source, ...one })),
  ),
);

describe("one unreadable item", async () => {
  const whole = await tour(aWorld(await everyKind()));

  test.each(rows)("R17 affects nothing else: $kind $what that $damage", async (row) => {
    const { kind, damage, item, loses, newer } = row;
    const store = await everyKind();
    const key = await spoil(store, item, (body) => DAMAGES[damage]?.(kind, body) ?? body);
    const troubles: string[] = [];

    const said = await tour(aWorld(store, (about) => troubles.push(about)));

    const allowed = damage === NEWER_ENGINE ? { ...loses, ...newer } : loses;
    expect(harm(whole, said, allowed)).toEqual({});
    const name = `${key.pk} / ${key.sk} cannot be read and is left out`;
    expect(troubles.filter((about) => about === name).length).toBeLessThanOrEqual(1);
  });

  test("may be any item at all: no stop of the tour fails unexpectedly", async () => {
    for (const { key } of someOfEach((await everyKind()).items())) {
      const store = await everyKind();
      await spoil(store, (item) => item.key.pk === key.pk && item.key.sk === key.sk, cutShort);

      const said = await tour(aWorld(store));

      const codes = Object.values(said).filter((stop) => typeof stop === "string");
      expect(codes.filter((code) => !TOLD.includes(code))).toEqual([]);
    }
  }, 120_000);
});

/** Some of the items whose keys look alike, with those that have no format of their own. */
function someOfEach(items: readonly Item[]): readonly Item[] {
  const likeness = ({ key: { pk, sk } }: Item) => `${pk.split("#")[1]} ${sk.split(/[#\d]/)[0]}`;
  return Object.values(Object.groupBy(items, likeness)).flatMap((alike = []) => alike.slice(0, 3));
}

/** The codes that a stop may get when what it asks for does not exist. */
const TOLD: readonly string[] = [...PROMISED, "task/not-found", "instance/not-ended"];

describe("a poll that meets an unreadable instance", () => {
  const asked = { type: "work", max: 20, lockSeconds: 3_600, worker: "w" };

  test("keeps no lock on its task, and reads it again in a minute", async () => {
    const store = await everyKind();
    const before = await bodyOf(store, /#I#at-task S$/);
    await spoil(store, /#I#at-task S$/, cutShort);
    const world = aWorld(store);

    const first = await world.engine.activate(asked);
    await spoil(store, /#I#at-task S$/, () => before);
    world.moveTo(world.now() + UNREADABLE_TASK_REST_MS - 1);
    const early = await world.engine.activate(asked);
    world.moveTo(world.now() + 1);
    const again = await world.engine.activate(asked);

    expect(first.tasks).toHaveLength(3);
    expect(early.tasks).toEqual([]);
    expect(again.tasks.map(({ taskId }) => taskId)).toEqual(["at-task.k1.2"]);
  });

  test("returns the tasks that it has locked when the store fails, and leaves nothing locked", async () => {
    const store = await everyKind();
    const world = aWorld(store);
    const get = store.get.bind(store);
    store.get = async (keys, how) => {
      if (keys.some(({ pk }) => pk.endsWith("#I#at-task"))) throw new Error("the disk is gone");
      return get(keys, how);
    };

    const first = await world.engine.activate(asked);
    const failed = world.engine.activate(asked);
    await expect(failed).rejects.toThrow("the disk is gone");
    store.get = get;
    const again = await world.engine.activate(asked);

    expect(first.tasks.map(({ taskId }) => taskId)).toEqual(["at-staying.k1.2"]);
    expect(again.tasks.map(({ taskId }) => taskId)).toContain("at-task.k1.2");
    expect(again.tasks).toHaveLength(3);
  });
});

describe("a damaged row", () => {
  test("is replaced by a full recovery: its task is given to the next poll", async () => {
    const store = await everyKind();
    await spoil(store, /#J#work#0 .*at-task/, cutShort);
    const world = aWorld(store);

    await world.engine.recoverAll({ limit: 200 });
    await world.drain();
    const about = { type: "work", max: 20, lockSeconds: 60, worker: "w" };
    const { tasks } = await world.engine.activate(about);

    expect(tasks.map(({ taskId }) => taskId)).toContain("at-task.k1.2");
  });
});

describe("a damaged task type", () => {
  test("has its tasks looked up in every shard, and is replaced when it is set again", async () => {
    const store = await everyKind();
    await spoil(store, /#J#work H$/, cutShort);
    const world = aWorld(store);

    await world.engine.start("order", { instanceId: "fresh" });
    await world.drain();
    const { items } = await world.engine.tasks({ type: "work" }, { limit: 200 });
    const set = await world.engine.setTaskType("work", { queueArn: null });

    expect(items.map(({ instanceId }) => instanceId)).toContain("fresh");
    expect(set).toEqual({ type: "work", queueArn: null, shards: 64 });
    expect(await world.engine.taskType("work")).toEqual(set);
  });
});

describe("a message for several instances of which one is unreadable", () => {
  test("reaches the others", async () => {
    const store = await everyKind();
    const world = aWorld(store);
    const source = (await world.engine.source("paying", 1)).text.replace('"paying"', '"other"');
    await world.engine.deploy({ notation: "bpmn", source });
    await world.engine.start("other", { instanceId: "other" });
    await world.drain();
    await spoil(store, /#I#at-message S$/, cutShort);

    const message = { name: "payment", correlationKey: "order-1", payload: { paid: 3 } };
    const answer = await world.engine.message(message);

    expect(answer).toMatchObject({ outcome: "delivered", instanceId: "other" });
    expect((await world.engine.get("other")).status).toBe("succeeded");
  });
});

describe("a scan of the due index", () => {
  const slice = { index: 0, of: 1 };

  test("starts over if its cursor was damaged", async () => {
    const store = await everyKind();
    for (const walk of ["sweep", "wheel"] as const) {
      const put = { key: walkKey(walk, slice), version: 1, body: bytes("{") };
      await store.commit([{ put, when: "absent" }]);
    }
    const world = aWorld(store);
    world.moveTo(world.now() + 2 * 3_600_000);

    expect(await world.engine.sweep(slice)).toMatchObject({ troubles: 0 });
    expect(await world.engine.turnWheel(slice)).toMatchObject({ troubles: 0 });
    expect(world.armed.map(({ instanceId }) => instanceId)).toContain(WAITING.timer);
  });

  test("passes permanently unreadable items, although nothing else of its page is sent", async () => {
    const store = await everyKind();
    const due = [WAITING.timer, ALSO.staying, ALSO.race].map((id) => new RegExp(`#I#${id} S$`));
    for (const item of [...due, /#D#by-timer TS#/]) await spoil(store, item, cutShort);
    const world = aWorld(store);
    world.moveTo(world.now() + 2 * 3_600_000);

    expect(await world.engine.turnWheel(slice)).toMatchObject({ queued: 0, troubles: 4 });
    expect(await world.engine.turnWheel(slice)).toMatchObject({ looked: 0 });
  });
});

describe("an instance whose child is unreadable", () => {
  test("can still be recovered and cancelled", async () => {
    const store = await everyKind();
    await spoil(store, new RegExp(`#I#${CHILD} S$`), cutShort);
    const world = aWorld(store);

    const { failed } = await world.engine.recoverAll({ limit: 200 });
    await world.drain();
    await world.engine.cancel(NEWER.call);
    await world.drain();

    expect(failed).toBe(0);
    expect((await world.engine.get(NEWER.call)).status).toBe("cancelled");
  });
});

/** What the second tour has lost beyond what the table allows. */
function harm(whole: Tour, said: Tour, allowed: Losses): Readonly<Record<string, unknown>> {
  const harmed: Record<string, unknown> = {};
  for (const [stop, before] of Object.entries(whole)) {
    const now = said[stop] ?? "missing";
    const loss = allowed[stop] ?? [];
    if (loss === "refused") {
      const isTold = typeof now === "string" && [...PROMISED, "task/not-found"].includes(now);
      if (!isTold) harmed[stop] = now;
    } else if (typeof now === "string" || typeof before === "string") harmed[stop] = now;
    else {
      const missing = before.filter((name) => !now.includes(name));
      if (missing.some((name) => !loss.includes(name))) harmed[stop] = { missing };
    }
  }
  return harmed;
}

const waitsForNews: Workflow = function* () {
  return yield event("news");
};

function aWorld(store: SimulatedStore, onTrouble?: (about: string) => void): PlainWorld {
  const workflows = new Map([...WORKFLOWS, [NEWS_READER, waitsForNews] as const]);
  const known = { store, tasks: TASKS, handlers: HANDLERS, workflows };
  return aPlainWorld({ ...known, ...(onTrouble && { onTrouble }) });
}

/** A store with an item of every kind; a split is stored only if hundreds wait. */
async function everyKind(): Promise<SimulatedStore> {
  const { store } = await worldOf(FORMATS.instance);
  const key = turnKey("default", "nudge-1", "0.1.0.0");
  const put = { key, version: 1, body: encodeBody("turn", { firsts: [" "] }) };
  await store.commit([{ put, when: "absent" }]);
  return store;
}

/** Changes the bytes of one item behind the engine's back, under its version. */
async function spoil(
  store: SimulatedStore,
  which: RegExp | ((item: Item) => boolean),
  change: (body: Uint8Array) => Uint8Array,
): Promise<Item["key"]> {
  const item = itemIn(store, which);
  await store.commit([{ remove: item.key, when: "exists" }]);
  await store.commit([{ put: { ...item, body: change(item.body) }, when: "absent" }]);
  return item.key;
}

const bodyOf = async (store: SimulatedStore, which: RegExp) => itemIn(store, which).body;

function itemIn(store: SimulatedStore, which: RegExp | ((item: Item) => boolean)): Item {
  const isIt = (item: Item) =>
    which instanceof RegExp ? which.test(`${item.key.pk} ${item.key.sk}`) : which(item);
  const [item, ...others] = store.items().filter(isIt);
  if (item === undefined || others.length > 0) throw new Error(`There is not one item ${which}.`);
  return item;
}

const cutShort = (body: Uint8Array): Uint8Array => body.slice(0, Math.floor(body.length / 2));
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
