import { describe, expect, test } from "vitest";
import { MAX_ROWS_IN_CALL } from "../../../lib/definition/limits.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import type { Message } from "../../../lib/ports/message.ts";
import type { StepWatch, Watched } from "../../../lib/ports/step-watch.ts";
import {
  aMessage,
  aSignal,
  beside,
  catching,
  end,
  extensions,
  file,
  flow,
  job,
  loop,
  onMessage,
  onSignal,
  process,
  sequence,
  start,
  timer,
  xml,
} from "../../support/bpmn-xml.ts";
import { calling, line, working } from "../../support/call-xml.ts";
import { aPlainWorld, type PlainWorld } from "../../support/plain-world.ts";

const ASIDE = "it was delivered 9 times";
const tenant = "default";

const one = sequence(xml("serviceTask", { id: "wait" }, extensions(job("work"))));
const timed = sequence(catching("wait", timer("timeDuration", "PT1H")));
const signalled = beside(sequence(catching("wait", onSignal("go"))), aSignal("go"));
const mailed = beside(
  sequence(catching("wait", onMessage("mail"))),
  aMessage("mail", { key: '="k"' }),
);
const daily = file(
  process(start("start", timer("timeCycle", "R/PT1H")), end(), flow("f", "start", "end")),
);
const child = line("child", [working("work")]);
const caller = file(line("p", [calling("wait", "child")]), child);
const callers = (count: number) =>
  file(line("p", [calls(loop({ inputCollection: `=for n in 1..${count} return n` }))]), child);

const calls = (marker: string) =>
  xml(
    "callActivity",
    { id: "wait" },
    extensions(xml("zeebe:calledElement", { processId: "child" })),
    marker,
  );

type Prepared = Readonly<{ world: PlainWorld; message: Message; instanceId?: string }>;

async function aWorld(source: string): Promise<PlainWorld> {
  const world = aPlainWorld({ tasks: { work: () => ({}) }, mayContinue: false });
  await world.engine.deploy({ notation: "bpmn", source });
  return world;
}

/** Takes the one message of this kind out of the queue; the others are lost. */
function only<K extends Message["kind"]>({ queued }: PlainWorld, kind: K): Message {
  const found = queued.splice(0).find((message) => message.kind === kind);
  if (found === undefined) throw new Error(`no ${kind} is queued`);
  return found;
}

const ticketOf = ({ commits }: PlainWorld): string => commits.at(-1)?.tickets[0]?.id ?? "";

/** Handles everything until a message of this kind is queued. */
async function untilQueued(world: PlainWorld, kind: Message["kind"]): Promise<Message> {
  const { engine, queued, now } = world;
  for (let count = 0; count < 100; count += 1) {
    if (queued.some((message) => message.kind === kind)) return only(world, kind);
    const [message] = queued.splice(0, 1);
    if (message === undefined) break;
    await engine.handle(message, {
      id: `before-${count}`,
      until: instantFrom(now() + 900_000),
      mayContinue: false,
    });
  }
  throw new Error(`no ${kind} was queued`);
}

async function started(source: string): Promise<PlainWorld> {
  const world = await aWorld(source);
  await world.engine.start("p", { instanceId: "one" });
  return world;
}

async function aBroadcast(waiting: number): Promise<PlainWorld> {
  const world = await aWorld(signalled);
  for (let n = 0; n < waiting; n++) await world.engine.start("p", { instanceId: `i${n}` });
  await world.drain();
  await world.engine.signal({ name: "go", id: "b" });
  return world;
}

/**
 * One of every kind: the compiler requires new kinds here. The instance in `instanceId` gets an
 * incident.
 */
const cases: { [K in Message["kind"]]: () => Promise<Prepared> } = {
  task: async () => {
    const world = await started(one);
    return { world, message: only(world, "task"), instanceId: "one" };
  },
  timer: async () => {
    const world = await started(timed);
    world.moveTo(world.now() + 3_600_000);
    const message = { kind: "timer", tenant, instanceId: "one", ticket: ticketOf(world) } as const;
    return { world, message, instanceId: "one" };
  },
  "timer-start": async () => {
    const world = await aWorld(daily);
    const [armed] = world.armedStarts;
    if (armed === undefined) throw new Error("nothing is armed");
    world.moveTo(armed.dueAt);
    const { covered: _, dueAt: __, ...occurrence } = armed;
    return { world, message: { kind: "timer-start", ...occurrence }, instanceId: "" };
  },
  parked: async () => {
    const world = await started(one);
    const { ticket } = only(world, "task") as Extract<Message, { kind: "task" }>;
    const fact = { kind: "task-completed", ticket, variables: {} } as const;
    const parked = {
      kind: "parked",
      tenant,
      instanceId: "one",
      name: `${ticket}/1`,
      fact,
    } as const;
    return { world, message: parked, instanceId: "one" };
  },
  owed: async () => {
    const world = await started(caller);
    world.queued.length = 0;
    const [begun] = world.commits;
    const name = begun?.tickets[0]?.lease?.trigger ?? "";
    const message = { kind: "owed", tenant, instanceId: "one", name } as const;
    return { world, message, instanceId: "" };
  },
  look: async () => {
    const world = await started(callers(6));
    return { world, message: await untilQueued(world, "look"), instanceId: "one" };
  },
  broadcast: async () => {
    const world = await aBroadcast(MAX_ROWS_IN_CALL + 1);
    return { world, message: only(world, "broadcast") };
  },
  watch: async () => {
    const world = await aBroadcast(1);
    await world.drain();
    return { world, message: { kind: "watch", tenant, broadcastId: "b" } };
  },
  shard: async () => {
    const world = await aBroadcast(MAX_ROWS_IN_CALL + 1);
    const message = {
      kind: "shard",
      tenant,
      broadcastId: "b",
      epoch: 0,
      shard: 0,
      page: 0,
    } as const;
    return { world, message };
  },
  page: async () => {
    const world = await aBroadcast(MAX_ROWS_IN_CALL + 1);
    await world.engine.handle(only(world, "broadcast"), by(world));
    const page = await untilQueued(world, "page");
    if (page.kind !== "page") throw new Error("no page");
    await world.engine.handle(
      { ...page, rows: page.rows.slice(0, 2) },
      { ...by(world), aside: ASIDE },
    );
    // Each of the two has its own message now.
    expect(world.queued).toMatchObject([{ rows: [{}] }, { rows: [{}] }]);
    expect((await world.engine.incidents({}, { limit: 10 })).items).toEqual([]);
    const alone = world.queued.splice(0)[0];
    if (alone?.kind !== "page" || !("instanceId" in (alone.rows[0] ?? {})))
      throw new Error("no row");
    return { world, message: alone, instanceId: "" };
  },
  missed: async () => {
    const world = await started(signalled);
    return {
      world,
      message: { kind: "missed", tenant, instanceId: "one", ticket: ticketOf(world) },
    };
  },
  members: async () => {
    const world = await started(callers(101));
    const page = await untilQueued(world, "members");
    if (page.kind !== "members") throw new Error("no page of items");
    world.queued.length = 0;
    await world.engine.handle({ ...page, to: page.from + 2 }, { ...by(world), aside: ASIDE });
    expect(world.queued).toMatchObject([
      { from: page.from, to: page.from + 1 },
      { from: page.from + 1, to: page.from + 2 },
    ]);
    const [alone] = world.queued.splice(0);
    if (alone === undefined) throw new Error("no page of one");
    return { world, message: alone, instanceId: "" };
  },
  "cancel-members": async () => {
    const world = await started(callers(11));
    await world.drain();
    const message = { kind: "cancel-members", tenant, instanceId: "one", ticket: "f1.1" } as const;
    return { world, message: { ...message, numbers: [0] } };
  },
  offer: async () => {
    const world = await aWorld(one);
    return { world, message: { kind: "offer", tenant, name: "go", seq: 1 } };
  },
  poke: async () => {
    const world = await started(mailed);
    return { world, message: { kind: "poke", tenant, name: "mail", key: "k" } };
  },
};

const by = ({ now }: PlainWorld) =>
  ({ id: "last", until: instantFrom(now() + 900_000), mayContinue: false }) as const;

describe("a message that was delivered too often", () => {
  test.each(Object.entries(cases))(
    "of the kind %s is finished without running code, and what it leaves can be resolved",
    async (_, prepare) => {
      const { world, message, instanceId } = await prepare();
      const { engine } = world;

      const verdict = await engine.handle(message, { ...by(world), aside: ASIDE });

      expect(verdict).toBe("release");
      const { items } = await engine.incidents({}, { limit: 10 });
      if (instanceId === undefined) {
        expect(items).toEqual([]);
        return;
      }
      expect(items).toMatchObject([
        { type: "STEP_POISONED", message: expect.stringContaining(ASIDE) },
      ]);
      const [incident] = items;
      if (incident === undefined) throw new Error("no incident");
      if (instanceId !== "") expect(incident.instanceId).toBe(instanceId);
      await engine.resolveIncident(incident.instanceId, incident.incidentId, {});
      await world.drain();
      expect(await engine.get(incident.instanceId)).toMatchObject({ incidents: [] });
    },
  );

  test.each(["task", "timer", "timer-start", "parked", "owed", "look", "page"] as const)(
    "of the kind %s leaves an instance that can be cancelled",
    async (kind) => {
      const { world, message } = await cases[kind]();
      const { engine } = world;
      await engine.handle(message, { ...by(world), aside: ASIDE });
      const { items } = await engine.incidents({}, { limit: 10 });
      const id = items[0]?.instanceId ?? "";
      const { parent } = world.commits.find((it) => it.id === id) ?? {};
      // An awaited child ends with its caller.
      const first = parent?.instanceId ?? id;

      expect(await engine.cancel(first)).toEqual({ cancelled: true });
      await world.drain();

      expect(await engine.get(id)).toMatchObject({ status: "cancelled" });
    },
  );

  test("is stale when its step was committed after all", async () => {
    const { world, message } = await cases.task();
    await world.engine.handle(message, by(world));

    expect(await world.engine.handle(message, { ...by(world), aside: ASIDE })).toBe("release");

    expect(await world.engine.get("one")).toMatchObject({ status: "succeeded", incidents: [] });
  });
});

describe("a step that its host watches", () => {
  const watching = (watched: Watched) => {
    const asked: string[] = [];
    const watch: StepWatch = {
      begin: ({ instanceId, name }) => {
        asked.push(`${instanceId} ${name}`);
        return watched;
      },
    };
    return { asked, world: aPlainWorld({ tasks: { work: () => ({}) }, watch }) };
  };
  const begin = async (world: PlainWorld) => {
    await world.engine.deploy({ notation: "bpmn", source: one });
    await world.engine.start("p", { instanceId: "one" });
    await world.drain();
  };

  test("starts and ends around the start, the handler and what follows from it", async () => {
    const ended: string[] = [];
    const { asked, world } = watching({ kind: "begun", end: () => void ended.push("one") });
    await begin(world);

    expect(asked).toEqual(["one started", "one k1.1/1", "one k1.1/1"]);
    expect(ended).toHaveLength(asked.length);
    expect(await world.engine.get("one")).toMatchObject({ status: "succeeded" });
  });

  test("that crashed too often is set aside, even if it is a start", async () => {
    const { world } = watching({ kind: "poisoned", deaths: 3 });
    await begin(world);

    const { incidents } = await world.engine.get("one");
    expect(incidents).toMatchObject([{ type: "STEP_POISONED", element: "p" }]);
    expect(await world.engine.cancel("one")).toEqual({ cancelled: true });
  });

  test("that has to wait is refused to its caller, who may retry", async () => {
    const { world } = watching({ kind: "later", forMs: 5_000 });

    await expect(begin(world)).rejects.toMatchObject({ code: "engine/busy", retryable: true });
  });
});
