import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { formatInstant, instantFrom } from "../../../lib/definition/time/instant.ts";
import { afterFiring, type TimerStart } from "../../../lib/engine/rows/timer-start.ts";
import type { Message, Verdict } from "../../../lib/ports/message.ts";
import { timerMessage } from "../../../lib/ports/timers.ts";
import { aPlainWorld, type PlainWorld } from "../../support/plain-world.ts";
import { startsItself } from "../../support/timer-starts.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ALL = { index: 0, of: 1 } as const;

type When = Parameters<typeof startsItself>[1];

async function deploy(world: PlainWorld, when: When, name = "first"): Promise<void> {
  const source = startsItself("p", when, { name });
  await world.engine.deploy({ notation: "bpmn", source });
}

/** Handles what was armed for a start event by now, oldest first; returns the verdicts. */
async function fire(world: PlainWorld): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (let start = world.armedStarts.shift(); start; start = world.armedStarts.shift()) {
    if (start.dueAt > world.now()) {
      world.armedStarts.unshift(start);
      break;
    }
    verdicts.push(await hand(world, timerMessage(start)));
  }
  return verdicts;
}

const hand = (world: PlainWorld, message: Message): Promise<Verdict> =>
  world.engine.handle(message, { id: "fire", until: world.now(), mayContinue: false });

async function begun({ engine }: PlainWorld): Promise<string[]> {
  const { items } = await engine.list({ definition: "p" }, { limit: 100 });
  return items.map(({ startedAt }) => startedAt).toReversed();
}

const pass = (world: PlainWorld, ms: number) => world.moveTo(world.now() + ms);
const instants = (from: number, ...ms: readonly number[]) =>
  ms.map((it) => formatInstant((from + it) as Parameters<typeof formatInstant>[0]));

describe("after an outage (F19)", () => {
  test("a finite cycle catches up on each firing that it missed, one at a time", async () => {
    const world = aPlainWorld();
    const from = world.now();
    await deploy(world, { timeCycle: "R4/PT1H" });

    pass(world, 150 * MINUTE);
    await fire(world);
    const missed = await begun(world);
    pass(world, DAY);
    await fire(world);

    expect(missed).toEqual(instants(from, HOUR, 2 * HOUR));
    expect(await begun(world)).toEqual(instants(from, HOUR, 2 * HOUR, 3 * HOUR, 4 * HOUR));
    expect(world.armedStarts).toEqual([]);
  });

  test("an endless cycle fires once and continues from its anchor, not from now", async () => {
    const world = aPlainWorld();
    const from = world.now();
    await deploy(world, { timeCycle: "R/PT1H" });

    pass(world, DAY + 25 * MINUTE);
    await fire(world);

    expect(await begun(world)).toEqual(instants(from, HOUR));
    expect(world.armedStarts.map(({ dueAt }) => dueAt - from)).toEqual([25 * HOUR]);
  });

  test("cron fires once and continues with its next match", async () => {
    const world = aPlainWorld();
    world.moveTo(Date.parse("2024-03-01T08:00:00Z"));
    await deploy(world, { timeCycle: "0 0 9 * * MON-FRI" });

    world.moveTo(Date.parse("2024-03-09T12:00:00Z"));
    await fire(world);

    expect(await begun(world)).toEqual(["2024-03-01T09:00:00.000Z"]);
    const [{ nextDue } = {}] = (await world.engine.schedules({ limit: 1 })).items;
    expect(nextDue).toBe("2024-03-11T09:00:00.000Z");
  });
});

describe("an occurrence", () => {
  test("that is delivered twice starts one instance, and the next is armed again", async () => {
    const world = aPlainWorld();
    await deploy(world, { timeCycle: "R/PT1H" });
    const [first] = world.armedStarts;
    pass(world, HOUR);
    if (first === undefined) throw new Error("nothing is armed");

    const verdicts = [
      await hand(world, timerMessage(first)),
      await hand(world, timerMessage(first)),
    ];

    expect(verdicts).toEqual(["release", "release"]);
    expect(await begun(world)).toHaveLength(1);
    expect(world.armedStarts.slice(1).map(({ n }) => n)).toEqual([1, 1]);
  });

  test("that comes early is kept until it is due", async () => {
    const world = aPlainWorld();
    await deploy(world, { timeDuration: "PT1H" });
    const [first] = world.armedStarts;
    if (first === undefined) throw new Error("nothing is armed");

    expect(await hand(world, timerMessage(first))).toEqual({ keepForMs: HOUR });
    expect(await begun(world)).toEqual([]);
  });

  test.each([
    ["disabled", (world: PlainWorld) => world.engine.disable("p")],
    ["undeployed", (world: PlainWorld) => world.engine.undeploy("p")],
    ["stopped", (world: PlainWorld) => world.engine.removeSchedule("p~begin")],
    ["replaced", (world: PlainWorld) => deploy(world, { timeCycle: "R/PT5H" }, "second")],
  ])("of a start event that was %s meanwhile starts nothing", async (_, change) => {
    const world = aPlainWorld();
    await deploy(world, { timeCycle: "R/PT1H" });
    const first = world.armedStarts.splice(0)[0];
    pass(world, HOUR);
    if (first === undefined) throw new Error("nothing is armed");

    await change(world);
    const verdict = await hand(world, timerMessage(first));

    expect(verdict).toBe("release");
    expect(await begun(world)).toEqual([]);
  });

  test("of an earlier run starts nothing, although the numbers are the same", async () => {
    const world = aPlainWorld();
    await deploy(world, { timeCycle: "R/PT1H" });
    const first = world.armedStarts.splice(0)[0];
    if (first === undefined) throw new Error("nothing is armed");
    await world.engine.disable("p");
    await world.engine.enable("p");
    pass(world, HOUR);

    await hand(world, timerMessage(first));
    const stale = await begun(world);
    await fire(world);

    expect(stale).toEqual([]);
    expect(await begun(world)).toHaveLength(1);
  });

  test("that was counted is not started by an old copy of its start, however late", async () => {
    const store = new SimulatedStore({});
    const world = aPlainWorld({ store, tasks: { work: () => ({}) } });
    await deploy(world, { timeCycle: "R/PT1H" });
    pass(world, HOUR);
    await fire(world);
    const copies = [...world.queued];
    await world.drain();
    const [ended] = (await world.engine.list({ definition: "p" }, { limit: 1 })).items;
    pass(world, 40 * DAY);
    store.purgeExpired(world.now());

    world.queued.push(...copies);
    await world.drain();

    expect(copies).toMatchObject([{ kind: "task", start: { timer: { n: 0 } } }]);
    expect(ended?.status).toBe("succeeded");
    expect(await begun(world)).toEqual([]);
  });

  test("whose instance id is taken is skipped", async () => {
    const first = aPlainWorld();
    await deploy(first, { timeCycle: "R/PT1H" });
    pass(first, HOUR);
    await fire(first);
    const [taken] = (await first.engine.list({ definition: "p" }, { limit: 1 })).items;
    const world = aPlainWorld();
    world.moveTo(first.now() - HOUR);
    await deploy(world, { timeCycle: "R/PT1H" });
    const plain = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="q" isExecutable="true"><startEvent id="s"/></process></definitions>`;
    await world.engine.deploy({ notation: "bpmn", source: plain });
    await world.engine.start("q", { instanceId: taken?.instanceId ?? "" });
    pass(world, HOUR);

    await fire(world);

    const [schedule] = (await world.engine.schedules({ limit: 1 })).items;
    expect(schedule).toMatchObject({ fired: 1 });
  });
});

describe("the recovery of timer starts", () => {
  test("by the sweep sends what no queue delivered", async () => {
    const world = aPlainWorld();
    await deploy(world, { timeDuration: "PT1H" });
    world.armedStarts.length = 0;
    pass(world, HOUR + 3 * MINUTE);

    const report = await world.engine.sweep(ALL);
    await fire(world);

    expect(report).toMatchObject({ sent: 1, troubles: 0 });
    expect(await begun(world)).toHaveLength(1);
  });

  test("by the wheel queues what falls due in the next minutes", async () => {
    const world = aPlainWorld();
    await deploy(world, { timeDuration: "PT1H" });
    world.armedStarts.length = 0;

    pass(world, 30 * MINUTE);
    const early = await world.engine.turnWheel(ALL);
    pass(world, 27 * MINUTE);
    const near = await world.engine.turnWheel(ALL);

    expect([early.queued, near.queued]).toEqual([0, 1]);
    expect(world.armedStarts).toMatchObject([{ n: 0, covered: false }]);
  });

  test("of everything reports what it fires, and arms all timers of a restored store", async () => {
    const world = aPlainWorld();
    await deploy(world, { timeCycle: "R/PT1H" });
    world.armedStarts.length = 0;

    const ahead = await world.engine.recoverAll({ limit: 10 });
    pass(world, 2 * HOUR);
    const late = await world.engine.recover();
    const all = await world.engine.recoverAll({ limit: 10 });

    expect(ahead).toMatchObject({ rearmed: 1, timersFired: 0 });
    expect(late).toMatchObject({ timersFired: 1 });
    expect(all).toMatchObject({ rearmed: 0, timersFired: 1 });
    expect(world.armedStarts).toHaveLength(3);
  });

  test("keeps the start event although its timer could not be armed", async () => {
    const troubles: string[] = [];
    const world = aPlainWorld({
      timers: {
        arm: () => Promise.reject(new Error("no")),
        disarm: async () => {},
      },
      onTrouble: (about) => void troubles.push(about),
    });

    await deploy(world, { timeDuration: "PT1H" });

    expect(troubles).toEqual(["timer start begin of definition p was not armed"]);
    expect((await world.engine.schedules({ limit: 1 })).items).toMatchObject([{ remaining: 1 }]);
  });
});

describe("a start event armed by an older release", () => {
  test("with a cycle without length fires once a second", () => {
    const dueAt = instantFrom(Date.parse("2024-01-01T00:00:00Z"));
    const start: TimerStart = {
      definitionId: "p",
      version: 1,
      hash: "h",
      element: "begin",
      kind: "cycle",
      text: "R1000000/PT0S",
      run: 1,
      anchor: dueAt,
      n: 0,
      left: 1_000_000,
      nextDue: dueAt,
      enabled: true,
    };

    expect(afterFiring(start, dueAt).nextDue).toBe(dueAt + 1_000);
  });
});
