import { describe, expect, test } from "vitest";
import type { Queues } from "../../../lib/adapters/local/queues.ts";
import { openVirtualClock } from "../../../lib/adapters/local/virtual-clock.ts";
import type { Duration } from "../../../lib/definition/time/duration.ts";
import { type Instant, instantFrom } from "../../../lib/definition/time/instant.ts";
import type { Message, TaskMessage } from "../../../lib/ports/message.ts";
import { instanceOfKey, openTestQueues } from "../../support/local-queues.ts";
import { ManualTime } from "../../support/manual-time.ts";

const START = instantFrom(Date.UTC(2030, 0, 1));
const HOUR = 3_600_000;

describe("a virtual clock", () => {
  test("begins at real time, and saves it", async () => {
    const saved: Instant[] = [];
    const clock = await openVirtualClock({
      real: new ManualTime(START),
      memory: { load: async () => undefined, save: async (now) => void saved.push(now) },
    });

    expect(clock.now()).toBe(START);
    expect(saved).toEqual([START]);
  });

  test("continues from its saved time, whatever real time is", async () => {
    const later = instantFrom(START + HOUR);
    const clock = await openVirtualClock({
      real: new ManualTime(START),
      memory: { load: async () => later, save: async () => {} },
    });

    expect(clock.now()).toBe(later);
  });

  test("does not show a time that could not be saved", async () => {
    const clock = await openVirtualClock({
      real: new ManualTime(START),
      memory: {
        load: async () => START,
        save: async () => {
          throw new Error("no disk");
        },
      },
    });

    await expect(clock.moveTo(instantFrom(START + 1))).rejects.toThrow("no disk");
    expect(clock.now()).toBe(START);
  });

  test("needs no alarm for its waits", async () => {
    const { queues, time } = await opened();
    await queues.tasks.send({ ...aTask("k1"), notBefore: instantFrom(START + HOUR) });
    await queues.timers.arm(hidden("a", instantFrom(START + HOUR)));
    await time.pass(0);

    expect(time.alarms).toBe(0);
  });

  test("stands still while real time passes, and never goes back", async () => {
    const { clock, time } = await opened();
    await time.pass(HOUR);
    await clock.moveTo(instantFrom(START - 1));

    expect(clock.now()).toBe(START);
  });
});

describe("an advance", () => {
  test("moves the clock by its duration when nothing is due", async () => {
    const { advance, clock } = await opened();

    expect(await advance(hours(24))).toEqual({
      now: instantFrom(START + 24 * HOUR),
      fired: 0,
      left: [],
    });
    expect(clock.now()).toBe(START + 24 * HOUR);
  });

  test("stops at each due instant in order, including those armed on the way", async () => {
    const { advance, clock, index, queues, on } = await opened();
    const firedAt: number[] = [];
    on.due = (instanceId) => {
      firedAt.push((clock.now() - START) / HOUR);
      const next = firedAt.length < 3 ? instantFrom(clock.now() + HOUR) : undefined;
      armIndexed(queues, index, instanceId, next);
    };
    armIndexed(queues, index, "a", instantFrom(START + HOUR));

    expect(await advance(hours(10))).toEqual({
      now: instantFrom(START + 10 * HOUR),
      fired: 3,
      left: [],
    });
    expect(firedAt).toEqual([1, 2, 3]);
  });

  test("delivers delayed messages and hidden timers at their instants", async () => {
    const { advance, clock, queues, on } = await opened();
    const log: string[] = [];
    on.handle = (name) => void log.push(`${name} ${(clock.now() - START) / HOUR}`);
    await queues.tasks.send({ ...aTask("k1"), notBefore: instantFrom(START + 2 * HOUR) });
    await queues.timers.arm(hidden("a", instantFrom(START + HOUR)));
    await queues.timers.arm(hidden("b", instantFrom(START + 5 * HOUR)));

    await advance(hours(4));
    expect(log).toEqual(["timer of a 1", "task k1 2"]);
    await advance(hours(1));
    expect(log).toEqual(["timer of a 1", "task k1 2", "timer of b 5"]);
  });

  test("first finishes everything that is due, also when it advances by zero", async () => {
    const { advance, queues, on } = await opened();
    const log: string[] = [];
    on.handle = (name) => void log.push(name);
    await queues.tasks.send(aTask("k1"));

    expect((await advance(hours(0))).left).toEqual([]);
    expect(log).toEqual(["task k1"]);
  });

  test("waits for handlers that take real time", async () => {
    const { advance, queues, time, on, clock } = await opened();
    on.handle = (name) => (name === "task k1" ? time.pause(8_000) : undefined);
    await queues.tasks.send(aTask("k1"));
    const done = advance(hours(1));
    await time.pass(7_999);
    expect(clock.now()).toBe(START);
    await time.pass(1);

    expect(await done).toMatchObject({ left: [] });
  });

  test("lists what makes no progress, and continues past it", async () => {
    const { advance, queues, time, on } = await opened();
    const log: string[] = [];
    on.handle = (name) => {
      log.push(name);
      return name === "task k1" ? new Promise(() => {}) : undefined;
    };
    await queues.tasks.send(aTask("k1"));
    await queues.timers.arm(hidden("a", instantFrom(START + HOUR)));
    await queues.timers.arm(hidden("b", instantFrom(START + 2 * HOUR)));
    const done = advance(hours(3));
    await time.pass(10_000);

    expect(await done).toEqual({
      now: instantFrom(START + 3 * HOUR),
      fired: 2,
      left: ["task charge-card of instance order-1 is running"],
    });
    expect(log).toEqual(["task k1", "timer of a", "timer of b"]);
  });

  test("keeps waiting as long as something finishes", async () => {
    const { advance, queues, time, on } = await opened({ concurrency: 1 });
    on.handle = () => time.pause(9_000);
    for (const ticket of ["k1", "k2", "k3"]) await queues.tasks.send(aTask(ticket));
    const done = advance(hours(1));
    await time.pass(27_000);

    expect(await done).toMatchObject({ left: [] });
  });

  test("lists a key that stays due, and does not loop endlessly", async () => {
    const { advance, queues, index, time, on } = await opened();
    on.fired = 0;
    armIndexed(queues, index, "stuck", instantFrom(START + HOUR));
    const done = advance(hours(2));
    await time.pass(60_000);

    expect(await done).toEqual({
      now: instantFrom(START + 2 * HOUR),
      fired: 0,
      left: ["default#I#stuck / S was looked at, but is still due"],
    });
  });

  test("waits for the message sent for a due key, and does not count it as a timer", async () => {
    const { advance, queues, index, time, clock, on, troubles } = await opened();
    on.fired = 0;
    const log: string[] = [];
    on.due = async (instanceId) => {
      log.push(`due ${(clock.now() - START) / HOUR}`);
      await queues.work.send({ kind: "offer", tenant: "default", name: instanceId, seq: 1 });
    };
    on.handle = async (name) => {
      await time.pause(50);
      log.push(`${name} ${(clock.now() - START) / HOUR}`);
      index.set("kept", undefined);
    };
    index.commit("kept", instantFrom(START + HOUR));
    const done = advance(hours(2));
    await time.pass(1_000);

    expect(await done).toEqual({ now: instantFrom(START + 2 * HOUR), fired: 0, left: [] });
    expect(log).toEqual(["due 1", "offer 1"]);
    expect(troubles).toEqual([]);
  });

  test("waits for the parts of a fan-out before it moves, including delayed ones", async () => {
    const { advance, queues, time, clock, on } = await opened();
    const log: number[] = [];
    on.handle = () => void log.push((clock.now() - START) / HOUR);
    const broadcast = { kind: "broadcast", tenant: "default", broadcastId: "b1" } as const;
    await queues.work.send(broadcast);
    await queues.work.send(broadcast, 5_000);
    const done = advance(hours(1));
    await time.pass(5_000);

    expect(await done).toMatchObject({ left: [] });
    expect(log).toEqual([0, 0]);
  });

  test("runs after an earlier advance has finished", async () => {
    const { advance, clock } = await opened();
    const [first, second] = await Promise.all([advance(hours(1)), advance(hours(2))]);

    expect(first.now).toBe(START + HOUR);
    expect(second.now).toBe(START + 3 * HOUR);
    expect(clock.now()).toBe(START + 3 * HOUR);
  });

  test("refuses to go back, and the next one still works", async () => {
    const { advance } = await opened();

    await expect(advance(hours(-1))).rejects.toThrow(/forward only.*request\/invalid/);
    expect((await advance(hours(1))).now).toBe(START + HOUR);
  });
});

/** Queues on a virtual clock; `on` says what the consumers do. */
async function opened(options: { concurrency?: number } = {}) {
  const time = new ManualTime(START);
  const memory = { load: async () => undefined, save: async () => {} };
  const clock = await openVirtualClock({ real: time, memory });
  const { queues, index, troubles } = openTestQueues({
    time,
    clock,
    patienceMs: 10_000,
    ...options,
  });
  const on: {
    handle: (name: string) => unknown;
    due: (instanceId: string) => unknown;
    fired: number;
  } = { handle: () => {}, due: () => {}, fired: 1 };
  queues.consume({
    async handle(message) {
      await on.handle(nameOf(message));
      return "release";
    },
    advance: async (messages) => messages.map(() => "release" as const),
    async onDue(key) {
      const instanceId = instanceOfKey(key);
      if (on.fired > 0) index.set(instanceId, undefined);
      await on.due(instanceId);
      return on.fired;
    },
  });
  const { advance } = queues;
  if (advance === undefined) throw new Error("a virtual clock can be advanced");
  return { time, clock, queues, index, on, advance, troubles };
}

function nameOf(message: Message): string {
  if (message.kind === "task") return `task ${message.ticket}`;
  return message.kind === "timer" ? `timer of ${message.instanceId}` : message.kind;
}

function armIndexed(
  queues: Queues,
  index: { set(instanceId: string, dueAt: Instant | undefined): void },
  instanceId: string,
  dueAt: Instant | undefined,
): void {
  index.set(instanceId, dueAt);
  if (dueAt !== undefined) void queues.timers.arm({ ...hidden(instanceId, dueAt), covered: true });
}

function hidden(instanceId: string, dueAt: Instant) {
  return { tenant: "default", instanceId, ticket: "t1.1", dueAt, covered: false };
}

function aTask(ticket: string): TaskMessage {
  const address = { tenant: "default", instanceId: "order-1" };
  return { kind: "task", ...address, ticket, attempt: 1, type: "charge-card" };
}

function hours(count: number): Duration {
  return { months: 0, days: 0, timeMs: count * HOUR };
}
