// Each situation is built on its own, and what its report must say is counted by hand.

import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { MAX_TROUBLES_TOLD } from "../../../lib/definition/limits.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import type { World } from "../../../lib/engine/world.ts";
import { EngineError } from "../../../lib/ports/engine-error.ts";
import type { RecoveryReport } from "../../../lib/shapes/reports.ts";
import {
  aMessage,
  aSignal,
  beside,
  boundary,
  catching,
  end,
  extensions,
  file,
  flow,
  job,
  loop,
  onMessage,
  onSignal,
  person,
  start,
  throwing,
  timer,
  xml,
} from "../../support/bpmn-xml.ts";
import { calling, line, working } from "../../support/call-xml.ts";
import { NOTHING_RECOVERED } from "../../support/nothing-recovered.ts";
import { aPlainWorld, type PlainWorld } from "../../support/plain-world.ts";
import { startsItself } from "../../support/timer-starts.ts";

const HOUR = 3_600_000;
const ARN = "arn:aws:sqs:eu-west-1:123456789012:mine";

const doing = (type: string) => xml("serviceTask", { id: "do" }, extensions(job(type)));
const fork = xml(
  "process",
  { id: "fork", isExecutable: "true" },
  start(),
  xml("parallelGateway", { id: "both" }),
  working("work"),
  xml("serviceTask", { id: "other" }, extensions(job("work"))),
  flow("f0", "start", "both"),
  flow("f1", "both", "work"),
  flow("f2", "both", "other"),
);
const items = loop({ inputCollection: "=items", inputElement: "item" });
const processes = [
  line("task", [working("work")]),
  line(
    "guarded",
    [working("work")],
    boundary("late", "work", timer("timeDuration", "PT1H")),
    end("over"),
    flow("f9", "late", "over"),
  ),
  line("pause", [catching("wait", timer("timeDuration", "PT1H"))]),
  line("mail", [catching("wait", onMessage("m"))]),
  line("heard", [catching("wait", onSignal("s"))]),
  line("thrower", [throwing("throw", onSignal("s")), catching("then", onMessage("m"))]),
  line("outside", [doing("outside")]),
  line("mine", [doing("mine")]),
  line("somebody", [person("approve")]),
  line("family", [xml("serviceTask", { id: "each" }, extensions(job("each")), items)]),
  line("caller", [calling("call", "task")]),
  line("waiter", [calling("call", "pause")]),
  line("asker", [calling("call", "outside")]),
  fork,
];

type Built = PlainWorld & Readonly<{ store: SimulatedStore }>;

async function aWorld(more: Partial<Pick<World, "timers">> = {}): Promise<Built> {
  const store = new SimulatedStore({});
  const world = aPlainWorld({
    store,
    tasks: { work: () => ({}), each: () => ({}) },
    ownQueues: {
      allows: () => true,
      problemOf: async () => undefined,
      send: async () => "sent",
    },
    ...more,
  });
  for (const each of processes) {
    const source = beside(file(each), aSignal("s"), aMessage("m", { key: '="k"' }));
    await world.engine.deploy({ notation: "bpmn", source });
  }
  return { ...world, store };
}

/** Starts an instance and loses every message that it has sent. */
async function lose({ engine, queued }: Built, id: string): Promise<void> {
  await engine.start(id, {
    instanceId: id,
    ...(id === "family" && { variables: { items: [1, 2, 3] } }),
  });
  queued.length = 0;
}

/** What is left behind, and what a full recovery must report about it. */
type Situation = Readonly<{
  name: string;
  leave: (world: Built) => Promise<void>;
  counts: Partial<RecoveryReport>;
  /** What it reports the second time, if that differs. */
  again?: Partial<RecoveryReport>;
}>;

const SITUATIONS: readonly Situation[] = [
  {
    name: "R16 an instance that has finished",
    leave: async (world) => {
      await world.engine.start("task");
      await world.drain();
    },
    counts: {},
  },
  {
    name: "a wait for a message",
    leave: (world) => lose(world, "mail"),
    counts: { skipped: 1 },
  },
  {
    name: "a wait for a signal that was not sent",
    leave: (world) => lose(world, "heard"),
    counts: { skipped: 1 },
  },
  {
    name: "a task whose message is lost",
    leave: (world) => lose(world, "task"),
    counts: { resumed: 1, resent: 1 },
  },
  {
    name: "a task and its boundary timer",
    leave: (world) => lose(world, "guarded"),
    counts: { resumed: 1, resent: 1, rearmed: 1 },
  },
  {
    name: "two tasks of a start that was parked",
    leave: (world) => lose(world, "fork"),
    counts: { resumed: 1, resent: 2 },
  },
  {
    name: "a schedule that is ahead",
    leave: (world) => lose(world, "pause"),
    counts: { rearmed: 1 },
  },
  {
    name: "a timer that came due meanwhile",
    leave: async (world) => {
      await lose(world, "pause");
      world.moveTo(world.now() + 2 * HOUR);
    },
    counts: { timersFired: 1 },
  },
  {
    name: "a signal that has not left its outbox",
    leave: (world) => lose(world, "thrower"),
    counts: { resumed: 1, resent: 1 },
  },
  {
    name: "a task that is offered to workers",
    leave: async (world) => {
      await world.engine.start("outside");
      await world.drain();
    },
    counts: { skipped: 1 },
  },
  {
    name: "a task in a queue of the user's own",
    leave: async (world) => {
      await world.engine.setTaskType("mine", { queueArn: ARN });
      await lose(world, "mine");
    },
    counts: { resumed: 1, resent: 1 },
  },
  {
    name: "a task for a worker",
    leave: async (world) => {
      await world.engine.start("somebody");
      await world.drain();
    },
    counts: { skipped: 1 },
  },
  {
    name: "a batch of three of which one is done",
    leave: async (world) => {
      await world.engine.start("family", { variables: { items: [1, 2, 3] } });
      await untilOpen(world, 3);
      const [first] = world.queued;
      if (first === undefined) throw new Error("no item was sent");
      await world.engine.handle(first, { id: "one", until: soon(world), mayContinue: false });
      world.queued.length = 0;
    },
    counts: { resumed: 1, resent: 2 },
  },
  {
    name: "a call whose child was never started",
    leave: (world) => lose(world, "caller"),
    counts: { resumed: 1, resent: 1 },
    // Then there is a child, whose message is the one that was lost; its caller waits for it.
    again: { resumed: 1, resent: 1, skipped: 1 },
  },
  {
    name: "a call whose child lives and waits",
    leave: async (world) => {
      await world.engine.start("waiter");
      await world.drain();
    },
    // The child's timer; there is nothing to do for its caller.
    counts: { rearmed: 1, skipped: 1 },
  },
  {
    name: "a call that was not told of its child's end",
    leave: async (world) => {
      await world.engine.start("asker");
      await world.drain();
      const { items } = await world.engine.tasks({ type: "outside" }, { limit: 1 });
      await world.engine.completeTask(items[0]?.taskId ?? "");
      world.queued.length = 0;
    },
    counts: { resumed: 1, resent: 1 },
  },
  {
    name: "an incident",
    leave: async (world) => {
      await lose(world, "task");
      const { items } = await world.engine.tasks({ instanceId: "task" }, { limit: 1 });
      await world.engine.failTask(items[0]?.taskId ?? "", { message: "no", retries: 0 });
      world.queued.length = 0;
    },
    counts: { skipped: 1 },
  },
  {
    name: "a start event by timer whose schedule is lost",
    leave: async ({ engine }) => {
      const source = startsItself("cycle", { timeCycle: "R/PT1H" });
      await engine.deploy({ notation: "bpmn", source });
    },
    counts: { rearmed: 1 },
  },
  {
    name: "a start event by timer that is overdue",
    leave: async (world) => {
      const source = startsItself("cycle", { timeCycle: "R/PT1H" });
      await world.engine.deploy({ notation: "bpmn", source });
      world.moveTo(world.now() + 2 * HOUR);
    },
    counts: { timersFired: 1 },
  },
  {
    name: "R17 an instance of a newer engine",
    leave: (world) => spoil(world, "task", (text) => text.replace(/"f":\d+/, '"f":99')),
    counts: { unreadable: 1, troubles: [trouble("task", "instance/format-too-new")] },
  },
  {
    name: "R17 an instance of an engine that is too old",
    leave: (world) => spoil(world, "task", (text) => text.replace(/"f":\d+/, '"f":1')),
    counts: { unreadable: 1, troubles: [trouble("task", "store/item-too-old")] },
  },
  {
    name: "R17 an instance whose bytes are cut off",
    leave: (world) => spoil(world, "task", (text) => text.slice(0, 20)),
    counts: { unreadable: 1, troubles: [trouble("task", "store/corrupt")] },
  },
  {
    name: "R17 an instance that says something else altogether",
    leave: (world) => spoil(world, "task", () => '{"f":4}'),
    counts: { unreadable: 1, troubles: [trouble("task", "store/corrupt")] },
  },
];

describe("the report of a full recovery", () => {
  test.each(SITUATIONS)(
    "S3 counts $name, the first time and again",
    async ({ leave, counts, again = counts }) => {
      const world = await aWorld();
      await leave(world);

      const first = await recoverPages(world, 50);
      world.queued.length = 0;
      const second = await recoverPages(world, 1);

      expect(first).toEqual({ ...NOTHING_RECOVERED, ...counts });
      // Durable queues cannot be asked what they hold: what was lost again is sent again.
      expect(second).toEqual({ ...NOTHING_RECOVERED, ...again });
    },
  );

  test("S3 counts each once, whatever page it is on", async () => {
    for (const limit of [1, 3, 50]) {
      const world = await aWorld();
      await lose(world, "task");
      await lose(world, "guarded");
      await lose(world, "fork");
      await lose(world, "mail");
      await lose(world, "pause");
      await world.engine.start("outside");
      await world.drain();
      await spoil(world, "thrower", (text) => text.slice(0, 20));
      const source = startsItself("cycle", { timeCycle: "R/PT1H" });
      await world.engine.deploy({ notation: "bpmn", source });

      expect(await recoverPages(world, limit)).toEqual({
        ...NOTHING_RECOVERED,
        resumed: 3,
        resent: 4,
        rearmed: 3,
        skipped: 2,
        unreadable: 1,
        troubles: [trouble("thrower", "store/corrupt")],
      });
    }
  });

  test("S3 has nothing more to resume once what was sent has been processed", async () => {
    const world = await aWorld();
    await lose(world, "task");
    await lose(world, "fork");
    await lose(world, "thrower");
    const first = await recoverPages(world, 2);
    await world.drain();

    const second = await recoverPages(world, 2);

    expect(first).toMatchObject({ resumed: 3, resent: 4 });
    expect(second).toEqual({ ...NOTHING_RECOVERED, skipped: 1 });
  });

  test("S3 counts separately what could not be armed, and what it had sent before", async () => {
    const refuse = async () => {
      throw new EngineError("timers/not-armed", {
        happened: "No",
        where: "here",
        fix: "Wait.",
        retryable: true,
      });
    };
    let isRefused = false;
    const arm = async () => (isRefused ? refuse() : undefined);
    const world = await aWorld({ timers: { arm, disarm: async () => {} } });
    await lose(world, "guarded");
    await lose(world, "task");
    isRefused = true;

    expect(await recoverPages(world, 50)).toEqual({
      ...NOTHING_RECOVERED,
      resumed: 1,
      resent: 2,
      failed: 1,
      troubles: [trouble("guarded", "timers/not-armed")],
    });
  });

  test("names a limited number of unreadable items, and counts them all", async () => {
    const world = await aWorld();
    for (let n = 0; n <= MAX_TROUBLES_TOLD; n += 1) {
      await spoil(world, "task", (text) => text.slice(0, 20), `task-${n}`);
    }

    const report = await world.engine.recoverAll({ limit: 50 });

    expect(report.unreadable).toBe(MAX_TROUBLES_TOLD + 1);
    expect(report.troubles).toHaveLength(MAX_TROUBLES_TOLD);
  });

  test("continues after a timer start event that cannot be read", async () => {
    const world = await aWorld();
    for (const id of ["a", "b"]) {
      const source = startsItself(id, { timeCycle: "R/PT1H" });
      await world.engine.deploy({ notation: "bpmn", source });
    }
    const key = await damage(world.store, (pk, sk) => pk.endsWith("#D#a") && sk.startsWith("TS#"));

    expect(await recoverPages(world, 50)).toEqual({
      ...NOTHING_RECOVERED,
      rearmed: 1,
      unreadable: 1,
      troubles: [{ key, code: "store/corrupt", message: expect.any(String) }],
    });
  });
});

describe("a list with an unreadable item", () => {
  test.each([
    ["is too old", (text: string) => text.replace(/"f":\d+/, '"f":1')],
    ["is cut off", (text: string) => text.slice(0, 20)],
    ["says something else", () => '{"f":4}'],
  ])("R17 shows the others when one %s", async (_, change) => {
    const world = await aWorld();
    await lose(world, "mail");
    await spoil(world, "task", change);

    const { items: shown } = await world.engine.list({}, { limit: 10 });

    expect(shown.map(({ instanceId }) => instanceId)).toEqual(["mail"]);
    await expect(world.engine.get("task")).rejects.toThrow(EngineError);
  });
});

describe("an instance that moves between having an incident and having none", () => {
  test.each(["live", "incident"])(
    "is recovered although the view %s was read before and the other after",
    async (first) => {
      const world = await aWorld();
      await lose(world, "fork");
      const { engine, store } = world;
      if (first === "live") await fail(world);
      const [incident] = (await engine.incidents({}, { limit: 1 })).items;
      const id = incident?.incidentId ?? "";
      const move = () => (incident ? engine.resolveIncident("fork", id, {}) : fail(world));
      // The view that does not show it is read first, then it moves there, then the other is read.
      const list = store.list.bind(store);
      let hasBegun = false;
      const { promise: moved, resolve: hasMoved } = Promise.withResolvers<void>();
      store.list = async (view, range) => {
        if (!view.includes("#fork#")) return list(view, range);
        if (!view.includes(`#${first}#`)) {
          await moved;
          return list(view, range);
        }
        const page = await list(view, range);
        if (!hasBegun) {
          hasBegun = true;
          await move();
          world.queued.length = 0;
          hasMoved();
        }
        return page;
      };

      const report = await engine.recoverAll({ limit: 50 });

      expect(report).toMatchObject({ resumed: 1, resent: first === "live" ? 2 : 1, skipped: 0 });
    },
  );

  test("is recovered once when it moves between two pages", async () => {
    const world = await aWorld();
    await lose(world, "fork");
    world.moveTo(world.now() + 1_000);
    await lose(world, "mail");
    world.moveTo(world.now() + 1_000);
    const { nextCursor, ...first } = await world.engine.recoverAll({ limit: 1 });

    await fail(world);
    world.queued.length = 0;
    const second = await recoverPages(world, 1, nextCursor);

    expect(first).toEqual({ ...NOTHING_RECOVERED, skipped: 1 });
    expect(second).toEqual({ ...NOTHING_RECOVERED, resumed: 1, resent: 1 });
  });
});

/** One of the two tasks of the fork fails permanently. */
async function fail({ engine }: Built): Promise<void> {
  const { items } = await engine.tasks({ instanceId: "fork" }, { limit: 1 });
  await engine.failTask(items[0]?.taskId ?? "", { message: "no", retries: 0 });
}

const soon = (world: Built) => instantFrom(world.now() + 900_000);

/** Handles messages until this many tasks are queued, and no more. */
async function untilOpen(world: Built, count: number): Promise<void> {
  const isThere = () => world.queued.filter(({ kind }) => kind === "task").length >= count;
  while (!isThere()) {
    const message = world.queued.shift();
    if (message === undefined) throw new Error("nothing is queued");
    await world.engine.handle(message, { id: "open", until: soon(world), mayContinue: false });
  }
}

/** All pages, added up. */
async function recoverPages(
  { engine }: Built,
  limit: number,
  from?: string,
): Promise<RecoveryReport> {
  const sum: Record<string, unknown> = { ...NOTHING_RECOVERED };
  let cursor = from;
  do {
    const { nextCursor, troubles, ...counts } = await engine.recoverAll({
      limit,
      ...(cursor !== undefined && { cursor }),
    });
    for (const [name, count] of Object.entries(counts)) sum[name] = Number(sum[name]) + count;
    sum.troubles = [...(sum.troubles as unknown[]), ...troubles];
    cursor = nextCursor;
  } while (cursor !== undefined);
  return sum as RecoveryReport;
}

function trouble(instanceId: string, code: RecoveryReport["troubles"][number]["code"]) {
  const key = { pk: `default#I#${instanceId}`, sk: "S" };
  return { key, instanceId, code, message: expect.stringContaining(`[${code}]`) };
}

/** An instance whose stored bytes were changed behind the engine's back. */
async function spoil(
  world: Built,
  definition: string,
  change: (text: string) => string,
  instanceId = definition,
): Promise<void> {
  await world.engine.start(definition, { instanceId });
  world.queued.length = 0;
  await damage(world.store, (pk, sk) => pk.endsWith(`#I#${instanceId}`) && sk === "S", change);
}

async function damage(
  store: SimulatedStore,
  isMeant: (pk: string, sk: string) => boolean,
  change: (text: string) => string = (text) => text.slice(0, 20),
) {
  const item = store.items().find(({ key }) => isMeant(key.pk, key.sk));
  if (item === undefined) throw new Error("there is no such item");
  const body = new TextEncoder().encode(change(new TextDecoder().decode(item.body)));
  await store.commit([{ put: { ...item, body }, when: { version: item.version } }]);
  return item.key;
}
