import { describe, expect, test } from "vitest";
import {
  aMessage,
  aSignal,
  beside,
  boundary,
  catching,
  end,
  file,
  flow,
  onMessage,
  onSignal,
  process,
  race,
  receive,
  service,
  start,
  timer,
  xml,
} from "../support/bpmn-xml.ts";
import { aDataDir, anEngine, trailOf } from "../support/embedded.ts";
import { leftBy, NOTHING_LEFT } from "../support/left-in-store.ts";

type Engine = Awaited<ReturnType<typeof anEngine>>;

const KINDS = ["message", "signal", "timer"] as const;
type Kind = (typeof KINDS)[number];
type Side = "inner" | "outer";

/** What is waited for inside a host, and what on its boundary: each side has its own names. */
const definitionOf = (kind: Kind, side: Side) =>
  ({
    message: onMessage(`${side}-message`),
    signal: onSignal(`${side}-signal`),
    timer: timer("timeDuration", side === "inner" ? "PT1H" : "PT2H"),
  })[kind];
const roots = (["inner", "outer"] as const).flatMap((side) => [
  aMessage(`${side}-message`, { key: "=order" }),
  aSignal(`${side}-signal`),
]);

/** Delivers what the wait of this kind waits for. */
async function come(engine: Engine, kind: Kind, side: Side, order = "a"): Promise<unknown> {
  switch (kind) {
    case "message":
      return engine.message({
        name: `${side}-message`,
        correlationKey: order,
        timeToLive: "PT0S",
      });
    case "signal":
      return engine.signal(`${side}-signal`);
    case "timer":
      return engine.advanceClock(side === "inner" ? "PT1H" : "PT2H");
  }
}

/** Whatever is delivered now finds no wait. */
async function expectDeaf(engine: Engine): Promise<void> {
  await engine.idle();
  for (const side of ["inner", "outer"] as const) {
    expect(await engine.signal(`${side}-signal`)).toMatchObject({ deliveredCount: 0 });
    await expect(come(engine, "message", side)).rejects.toMatchObject({
      code: "message/no-waiter",
    });
  }
  expect(await engine.advanceClock("P1D")).toMatchObject({ fired: 0, left: [] });
}

async function expectNothingLeft(engine: Engine, dataDir: string, ended: string): Promise<void> {
  const { status, completedElements, waits } = await engine.get("a");
  const ends = completedElements.filter((id) => id.endsWith("-won"));
  expect({ status, ends, waits }).toEqual({ status: "succeeded", ends: [ended], waits: [] });
  await expectDeaf(engine);
  expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
}

describe("an event-based gateway", () => {
  const gateway = beside(
    file(
      process(
        start(),
        flow("f1", "start", "first"),
        race("first", ...KINDS.map((kind) => catching(kind, definitionOf(kind, "inner")))),
      ),
    ),
    ...roots,
  );

  async function aRacing(dataDir: string) {
    const engine = await anEngine({ dataDir, source: gateway });
    await engine.start("p", { instanceId: "a", variables: { order: "a" } });
    return engine;
  }

  test.each(KINDS)(
    "F54 is won by the %s, and the losers are closed in the same step",
    async (kind) => {
      const dataDir = aDataDir();
      const engine = await aRacing(dataDir);
      const { items } = await engine.waits("a");
      expect(items.map((wait) => wait.kind).sort()).toEqual([...KINDS]);

      await come(engine, kind, "inner");

      await expectNothingLeft(engine, dataDir, `${kind}-won`);
    },
  );

  test.each(KINDS)(
    "F54 is won by the %s after a restart in the middle of the wait",
    async (kind) => {
      const dataDir = aDataDir();
      const before = await aRacing(dataDir);
      await before.close({ graceMs: 0 });
      const engine = await anEngine({ dataDir });

      await come(engine, kind, "inner");

      await expectNothingLeft(engine, dataDir, `${kind}-won`);
    },
  );

  test("F54 is won at once by a message that came earlier", async () => {
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: gateway });
    await engine.message({ name: "inner-message", correlationKey: "a", payload: { n: 1 } });

    const started = await engine.start("p", { instanceId: "a", variables: { order: "a" } });

    expect(started).toMatchObject({ status: "succeeded", variables: { n: 1 } });
    await expectNothingLeft(engine, dataDir, "message-won");
  });

  test("F7 F54 that is cancelled leaves nothing armed", async () => {
    const dataDir = aDataDir();
    const engine = await aRacing(dataDir);
    await engine.cancel("a");
    expect((await engine.waits("a")).items).toEqual([]);
    await expectDeaf(engine);
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });
});

/** The wait itself as the host, and a sub-process that holds the wait. */
const HOSTS = {
  "on an event": (inner: Kind) => [catching("host", definitionOf(inner, "inner"))],
  "around a sub-process": (inner: Kind) => [
    xml(
      "subProcess",
      { id: "host" },
      start("in"),
      catching("wait", definitionOf(inner, "inner")),
      flow("f3", "in", "wait"),
    ),
  ],
} as const;

describe.each(["on an event", "around a sub-process"] as const)("a boundary event %s", (form) => {
  const PAIRS = KINDS.flatMap((inner) => KINDS.map((outer) => [inner, outer] as const));

  const around = (inner: Kind, outer: Kind) =>
    beside(
      file(
        process(
          start(),
          ...HOSTS[form](inner),
          boundary("border", "host", definitionOf(outer, "outer")),
          end("host-won"),
          end("border-won"),
          flow("f1", "start", "host"),
          flow("f2", "host", "host-won"),
          flow("f4", "border", "border-won"),
        ),
      ),
      ...roots,
    );

  async function aBordered(inner: Kind, outer: Kind) {
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: around(inner, outer) });
    await engine.start("p", { instanceId: "a", variables: { order: "a" } });
    return { engine, dataDir };
  }

  test.each(PAIRS)("F65 loses when the %s inside comes before the %s", async (inner, outer) => {
    const { engine, dataDir } = await aBordered(inner, outer);
    await come(engine, inner, "inner");
    await expectNothingLeft(engine, dataDir, "host-won");
  });

  test.each(
    // The timer inside is due before the one on the boundary: that order is impossible.
    PAIRS.filter(([inner, outer]) => inner !== "timer" || outer !== "timer"),
  )("F65 wins when the %s inside comes after the %s", async (inner, outer) => {
    const { engine, dataDir } = await aBordered(inner, outer);
    if (inner === "timer" || outer !== "timer") await come(engine, outer, "outer");
    else await engine.advanceClock("PT2H");
    await expectNothingLeft(engine, dataDir, "border-won");
  });
});

describe("a boundary event on a receive task", () => {
  test.each(["signal", "timer"] as const)(
    "F65 that is a %s interrupts a receive task, and frees its key",
    async (outer) => {
      const dataDir = aDataDir();
      const source = beside(
        file(
          process(
            start(),
            receive("get", "inner-message"),
            boundary("border", "get", definitionOf(outer, "outer")),
            end("host-won"),
            end("border-won"),
            flow("f1", "start", "get"),
            flow("f2", "get", "host-won"),
            flow("f3", "border", "border-won"),
          ),
        ),
        ...roots,
      );
      const engine = await anEngine({ dataDir, source });
      await engine.start("p", { instanceId: "a", variables: { order: "a" } });
      await come(engine, outer, "outer");
      await expectNothingLeft(engine, dataDir, "border-won");
    },
  );
});

describe("concurrent deliveries", () => {
  const guarded = beside(
    file(
      process(
        start(),
        service("work"),
        ...KINDS.flatMap((kind) => [
          boundary(kind, "work", definitionOf(kind, "outer")),
          end(`${kind}-won`),
          flow(`${kind}-on`, kind, `${kind}-won`),
        ]),
        end("task-won"),
        flow("f1", "start", "work"),
        flow("f2", "work", "task-won"),
      ),
    ),
    ...roots,
  );
  const ids = Array.from({ length: 12 }, (_, n) => `i${n}`);

  /** All calls, in every rotation: no test relies on which call comes first. */
  const callsOf = (engine: Engine, tasks: ReadonlyMap<string, string>) => [
    () => engine.signal("outer-signal"),
    () => engine.advanceClock("PT2H"),
    ...ids.map((id) => () => engine.complete(tasks.get(id) ?? "").catch(ignore)),
    ...ids.map((id) => () => come(engine, "message", "outer", id).catch(ignore)),
  ];

  test.each([0, 1, 2, 7, 14])(
    "S2 of signal, timer, message and completion have exactly one winner (rotation %d)",
    async (rotation) => {
      const dataDir = aDataDir();
      const engine = await anEngine({ dataDir, source: guarded });
      for (const id of ids) await engine.start("p", { instanceId: id, variables: { order: id } });
      const { items } = await engine.tasks({ limit: 200 });
      const tasks = new Map(items.map(({ instanceId, taskId }) => [instanceId, taskId]));
      const calls = callsOf(engine, tasks);
      const rotated = [...calls.slice(rotation), ...calls.slice(0, rotation)];

      await Promise.all(rotated.map((call) => call()));
      await engine.idle();

      for (const id of ids) {
        const { status, completedElements, waits } = await engine.get(id);
        const ends = completedElements.filter((element) => element.endsWith("-won"));
        expect({ id, status, waits, ends: ends.length }).toEqual({
          id,
          status: "succeeded",
          waits: [],
          ends: 1,
        });
        const trail = await trailOf(engine, id);
        const facts = trail.filter((line) => /^(signal|message|task|timer)-\w+ /.test(line));
        expect(facts).toHaveLength(1);
      }
      expect((await engine.tasks()).items).toEqual([]);
      expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
    },
  );

  test("S2 to the same instance have exactly one winner, a hundred times", async () => {
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: guarded });
    const winners = new Set<string>();
    for (let round = 0; round < 100; round++) {
      const id = `r${round}`;
      await engine.start("p", { instanceId: id, variables: { order: id } });
      const { items } = await engine.tasks({ instanceId: id });
      const calls = [
        () => engine.signal("outer-signal"),
        () => engine.advanceClock("PT2H"),
        () => engine.complete(items[0]?.taskId ?? "").catch(ignore),
        () => come(engine, "message", "outer", id).catch(ignore),
        () => engine.cancel(id),
      ];
      // One of them has a head start of some ticks of the event loop: the winner is left to chance.
      const [first, ...others] = [
        ...calls.slice(round % calls.length),
        ...calls.slice(0, round % calls.length),
      ];
      const begun = first?.();
      for (let turn = 0; turn < Math.floor(round / calls.length); turn++) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      await Promise.all([begun, ...others.map((call) => call())]);
      const { status, completedElements, waits } = await engine.get(id);
      const ends = completedElements.filter((element) => element.endsWith("-won"));
      const winner = status === "cancelled" ? ["cancel"] : ends;
      expect({ id, winners: winner.length, waits }).toEqual({ id, winners: 1, waits: [] });
      if (status === "cancelled") expect(ends).toEqual([]);
      for (const each of winner) winners.add(each);
    }
    expect(winners.size).toBeGreaterThan(1);
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("S2 are each taken by the parallel branch that waits for it, and none is lost", async () => {
    const source = beside(
      file(
        process(
          start(),
          ...KINDS.map((kind) => catching(kind, definitionOf(kind, "outer"))),
          service("work"),
          xml("parallelGateway", { id: "join" }),
          end("all-won"),
          ...[...KINDS, "work"].flatMap((id) => [
            flow(`to-${id}`, "start", id),
            flow(`of-${id}`, id, "join"),
          ]),
          flow("out", "join", "all-won"),
        ),
      ),
      ...roots,
    );
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source });
    for (const id of ids) await engine.start("p", { instanceId: id, variables: { order: id } });
    const { items } = await engine.tasks({ limit: 200 });
    const tasks = new Map(items.map(({ instanceId, taskId }) => [instanceId, taskId]));

    await Promise.all(callsOf(engine, tasks).map((call) => call()));
    await engine.idle();

    for (const id of ids) expect((await engine.get(id)).completedElements).toContain("all-won");
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });
});

describe("an instance that waits for everything", () => {
  /** Three branches that each wait for one thing, in a process of this id. */
  const waiting = (more = "") =>
    beside(
      file(
        process(
          start(),
          ...KINDS.map((kind) => catching(kind, definitionOf(kind, "inner"))),
          ...KINDS.map((kind) => flow(`to-${kind}`, "start", kind)),
          more,
        ),
      ),
      ...roots,
    );
  const begin = (engine: Engine, instanceId: string, more: { deadline?: string } = {}) =>
    engine.start("p", { instanceId, variables: { order: "a" }, ...more });

  test("F21 leaves nothing armed when its deadline comes", async () => {
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: waiting() });
    await begin(engine, "a", { deadline: "PT30M" });

    await engine.advanceClock("PT30M");

    expect(await engine.get("a")).toMatchObject({
      status: "failed",
      terminationKind: "timeout",
      waits: [],
    });
    await expectDeaf(engine);
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test.each([
    ["disabled", (engine: Engine) => engine.disable("p")],
    ["undeployed", (engine: Engine) => engine.undeploy("p")],
    ["replaced", (engine: Engine) => engine.deploy(waiting(end("more")))],
  ])("F4 F5 F6 is reached although its definition was %s", async (_, change) => {
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: waiting() });
    await begin(engine, "a");

    await change(engine);
    for (const kind of KINDS) await come(engine, kind, "inner");

    expect((await engine.get("a")).status).toBe("succeeded");
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("F46 keeps its key from an instance of a newer version of its process", async () => {
    const engine = await anEngine({ source: waiting() });
    await begin(engine, "a");
    await engine.deploy(waiting(end("more")));
    await begin(engine, "b");
    expect((await engine.get("b")).incidents).toMatchObject([{ element: "message" }]);
    await come(engine, "message", "inner");
    const [incident] = (await engine.get("b")).incidents;
    await engine.resolveIncident("b", incident?.incidentId ?? "");
    expect((await engine.waits("b")).items.map(({ kind }) => kind).sort()).toEqual([...KINDS]);
  });

  test("S3 is skipped by a recovery while nothing is due, and loses nothing", async () => {
    const dataDir = aDataDir();
    const before = await anEngine({ dataDir, source: waiting() });
    await begin(before, "a");
    await before.close({ graceMs: 0 });

    const engine = await anEngine({ dataDir });
    expect(await engine.recovered).toMatchObject({
      resumed: 0,
      resent: 0,
      timersFired: 0,
      mailboxesPoked: 0,
      broadcastsResumed: 0,
      eventsOffered: 0,
    });
    await Promise.all(KINDS.map((kind) => come(engine, kind, "inner")));
    await engine.idle();
    expect((await engine.get("a")).status).toBe("succeeded");
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });
});

/** Too late: another event was first. */
function ignore(error: unknown): void {
  expect(error).toMatchObject({
    code: expect.stringMatching(/^(task\/not-found|message\/no-waiter)$/),
  });
}
