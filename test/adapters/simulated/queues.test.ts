import { describe, expect, test } from "vitest";
import { type BusFault, SimulatedBus } from "../../../lib/adapters/simulated/bus.ts";
import { SimulatedClock, SimulatedTime } from "../../../lib/adapters/simulated/clock.ts";
import { SimulatedParking } from "../../../lib/adapters/simulated/parking.ts";
import { type QueueFault, SimulatedQueue } from "../../../lib/adapters/simulated/queue.ts";
import { SimulatedTasks } from "../../../lib/adapters/simulated/tasks.ts";
import { SimulatedTimers } from "../../../lib/adapters/simulated/timers.ts";
import { SimulatedWorkQueue } from "../../../lib/adapters/simulated/work-queue.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import type { Announcement, Broadcast } from "../../../lib/ports/bus.ts";
import type { Verdict } from "../../../lib/ports/message.ts";

const START = instantFrom(Date.UTC(2030, 0, 1));
const release = async (): Promise<Verdict> => "release";

describe("a simulated queue", () => {
  test("pauses before and after a send until the world continues it", async () => {
    const points: string[] = [];
    const { queue } = opened(async (point, message) => void points.push(`${point} ${message}`));
    await queue.send("a");

    expect(points).toEqual(["send:before a", "send:after a"]);
  });

  test("delivers in the order that the world chooses", async () => {
    const { queue } = opened();
    for (const message of ["a", "b", "c"]) await queue.send(message);
    const last = queue.ready().at(-1);
    const delivered: string[] = [];
    await queue.deliver(last?.id ?? 0, async (message) => {
      delivered.push(message);
      return "release";
    });

    expect(delivered).toEqual(["c"]);
    expect(messagesOf(queue)).toEqual(["a", "b"]);
  });

  test("duplicates and delays when the world says so", async () => {
    const faults: (QueueFault | undefined)[] = [
      { fault: "duplicated" },
      { fault: "delayed", byMs: 5_000 },
    ];
    const { queue, time } = opened(async (point) =>
      point === "send:before" ? faults.shift() : undefined,
    );
    await queue.send("twice");
    await queue.send("late");
    expect(queue.ready().map(({ message }) => message)).toEqual(["twice", "twice"]);

    time.pass(5_000);
    expect(queue.ready().map(({ message }) => message)).toEqual(["twice", "twice", "late"]);
  });

  test("redelivers a handled message when its release is lost", async () => {
    const { queue, time } = opened();
    await queue.send("a");
    await queue.deliver(1, release, "release-lost");
    expect(queue.ready()).toEqual([]);

    time.pass(90_000);
    expect(queue.ready()).toMatchObject([{ message: "a", receives: 1, isRunning: false }]);
  });

  test("redelivers a running message once its visibility ends or it is made visible", async () => {
    const { queue } = opened();
    await queue.send("a");
    let end: (verdict: Verdict) => void = () => {};
    const first = queue.deliver(1, () => new Promise((resolve) => (end = resolve)));
    expect(queue.ready()).toEqual([]);
    queue.reveal(1);
    expect(queue.ready()).toMatchObject([{ isRunning: true }]);

    const second = queue.deliver(1, async () => ({ keepForMs: 1_000 }));
    await second;
    end({ keepForMs: 60_000 });
    await first;
    expect(queue.all()).toMatchObject([{ visibleAt: START + 1_000, receives: 2 }]);
  });

  test("redelivers a message whose host died or whose consumer threw", async () => {
    const { queue, time } = opened();
    await queue.send("a");
    await queue.send("b");
    void queue.deliver(1, () => new Promise(() => {}));
    queue.abandon(1);
    await expect(queue.deliver(2, () => Promise.reject(new Error("no")))).rejects.toThrow("no");

    time.pass(90_000);
    expect(queue.ready()).toMatchObject([
      { message: "a", isRunning: false },
      { message: "b", isRunning: false },
    ]);
  });

  test("copies and loses messages when the world says so", async () => {
    const { queue } = opened();
    await queue.send("a");
    await queue.send("b");
    queue.duplicate(2);
    queue.lose(({ message }) => message === "a");

    expect(messagesOf(queue)).toEqual(["b", "b"]);
  });
});

describe("simulated parking", () => {
  test("offers an instance's oldest messages together, unless one is in flight", async () => {
    const { clock } = openTime();
    const parking = new SimulatedParking({ clock });
    for (const name of ["1", "2", "3"]) await parking.park(owed("a", name));
    await parking.park(owed("b", "1"));
    expect(batchesOf(parking)).toEqual([["a1", "a2", "a3"], ["b1"]]);

    await parking.deliverBatch([1, 2], async () => ["release", { keepForMs: 1_000 }]);
    expect(batchesOf(parking)).toEqual([["b1"]]);
    void parking.deliver(4, () => new Promise(() => {}));
    await parking.park(owed("b", "2"));
    expect(batchesOf(parking)).toEqual([]);
  });

  test("assigns verdicts correctly when a message of the batch is gone", async () => {
    const { clock } = openTime();
    const parking = new SimulatedParking({ clock });
    for (const name of ["1", "2", "3"]) await parking.park(owed("a", name));
    await parking.deliver(1, release);
    await parking.deliverBatch([1, 2, 3], async (messages) => {
      expect(messages.map(({ name }) => name)).toEqual(["2", "3"]);
      return [{ keepForMs: 1_000 }, "release"];
    });

    expect(parking.all().map(({ message }) => message.name)).toEqual(["2"]);
  });
});

describe("simulated tasks", () => {
  test("know what they hold only if configured to", async () => {
    const { clock } = openTime();
    const [durable, memory] = [false, true].map(
      (knowsWhatItHolds) => new SimulatedTasks({ clock, knowsWhatItHolds }),
    );
    for (const tasks of [durable, memory]) await tasks?.send(aTask("k1"));

    expect(durable?.holds("order-1", "k1")).toBe(false);
    expect(memory?.holds("order-1", "k1")).toBe(true);
    expect(memory?.holds("order-1", "k2")).toBe(false);
    expect([1, 2].map((attempt) => memory?.holds("order-1", "k1", attempt))).toEqual([true, false]);
  });

  test("remember what was stopped", () => {
    const tasks = new SimulatedTasks({ clock: openTime().clock });
    tasks.stop("order-1", "k1");

    expect(tasks.stopped).toEqual(["order-1.k1"]);
  });
});

describe("simulated timers", () => {
  test("do not recall a timer that is being delivered", async () => {
    const { clock } = openTime();
    const timers = new SimulatedTimers({ clock });
    const timer = { tenant: "default", instanceId: "a", ticket: "t1", dueAt: START, covered: true };
    await timers.arm(timer);
    void timers.deliver(1, () => new Promise(() => {}));
    await timers.disarm(timer);

    expect(timers.all()).toHaveLength(1);
  });
});

describe("the simulated work queue", () => {
  test("counts a delay from the send, and the world may add to it", async () => {
    const { clock } = openTime();
    const work = new SimulatedWorkQueue({
      clock,
      turn: async (point) =>
        point === "send:before" ? { fault: "delayed", byMs: 1_000 } : undefined,
    });
    await work.send({ kind: "broadcast", tenant: "default", broadcastId: "b1" }, 5_000);

    expect(work.all()).toMatchObject([{ visibleAt: START + 6_000 }]);
  });
});

describe("a simulated bus", () => {
  test("pauses before and after a call until the world continues it", async () => {
    const points: string[] = [];
    const { bus } = openBus(async (point, what) => {
      points.push(`${point} ${"id" in what ? what.id : what.broadcastId}`);
      return undefined;
    });
    expect(await bus.publish(aBroadcast)).toBe(true);
    await bus.announce(anAnnouncement);

    expect(points).toEqual([
      "publish:before b1",
      "publish:after b1",
      "announce:before order-1:e3.1",
      "announce:after order-1:e3.1",
    ]);
    expect(bus.announced).toEqual([anAnnouncement]);
  });

  test("delivers nothing that it refused", async () => {
    const { bus, work } = openBus(async () => ({ fault: "refused" }));

    expect(await bus.publish(aBroadcast)).toBe(false);
    expect(work.all()).toEqual([]);
  });

  test("delivers what it accepted although its publisher got no response", async () => {
    const { bus, work } = openBus(async () => ({ fault: "unanswered" }));

    expect(await bus.publish(aBroadcast)).toBe(false);
    expect(work.all()).toHaveLength(1);
  });

  test("delivers twice and late when the world says so", async () => {
    const faults: BusFault[] = [{ fault: "duplicated" }, { fault: "delayed", byMs: 5_000 }];
    const { bus, work } = openBus(async (point) =>
      point === "publish:before" ? faults.shift() : undefined,
    );

    expect(await bus.publish(aBroadcast)).toBe(true);
    expect(await bus.publish({ ...aBroadcast, broadcastId: "b2" })).toBe(true);
    const queued = work.all().map(({ message, visibleAt }) => [message, visibleAt - START]);
    const message = { kind: "broadcast", tenant: "default", broadcastId: "b1" };
    expect(queued).toEqual([
      [message, 0],
      [message, 0],
      [{ ...message, broadcastId: "b2" }, 5_000],
    ]);
  });
});

describe("a simulated clock", () => {
  test("is off by its skew, and jumps", () => {
    const time = new SimulatedTime(START);
    const clock = new SimulatedClock({ time, skewMs: -2_000 });
    expect(clock.now()).toBe(START - 2_000);

    clock.jump(60_000);
    time.pass(1_000);
    expect(clock.now()).toBe(START + 59_000);
    expect(time.now()).toBe(START + 1_000);
  });

  test("pauses until the world continues it", async () => {
    const points: string[] = [];
    const turn = async (point: string) => void points.push(point);
    await new SimulatedClock({ time: new SimulatedTime(START), turn }).pause();

    expect(points).toEqual(["pause"]);
  });

  test("never goes back", () => {
    expect(() => new SimulatedTime(START).pass(-1)).toThrow(RangeError);
  });
});

function openTime() {
  const time = new SimulatedTime(START);
  return { time, clock: new SimulatedClock({ time }) };
}

function opened(
  turn?: NonNullable<ConstructorParameters<typeof SimulatedQueue<string>>[0]["turn"]>,
) {
  const { time, clock } = openTime();
  return { time, queue: new SimulatedQueue<string>({ clock, ...(turn && { turn }) }) };
}

function openBus(turn: NonNullable<ConstructorParameters<typeof SimulatedBus>[0]["turn"]>) {
  const work = new SimulatedWorkQueue({ clock: openTime().clock });
  return { work, bus: new SimulatedBus({ work, turn }) };
}

const aBroadcast: Broadcast = {
  tenant: "default",
  broadcastId: "b1",
  topic: { kind: "event", name: "paid" },
  seq: 1,
  at: START,
};

const anAnnouncement: Announcement = {
  id: "order-1:e3.1",
  tenant: "default",
  instanceId: "order-1",
  definition: { id: "order", version: 1 },
  notice: { type: "instance-ended", status: "succeeded", terminationKind: "success" },
};

function messagesOf(queue: SimulatedQueue<string>): readonly string[] {
  return queue.all().map(({ message }) => message);
}

function batchesOf(parking: SimulatedParking): readonly (readonly string[])[] {
  return parking
    .batches()
    .map((batch) => batch.map(({ message }) => `${message.instanceId}${message.name}`));
}

function owed(instanceId: string, name: string) {
  return { kind: "owed", tenant: "default", instanceId, name } as const;
}

function aTask(ticket: string) {
  const address = { tenant: "default", instanceId: "order-1" };
  return { kind: "task", ...address, ticket, attempt: 1, type: "charge-card" } as const;
}
