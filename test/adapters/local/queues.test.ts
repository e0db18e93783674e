import { describe, expect, test } from "vitest";
import { handlersFrom } from "../../../lib/adapters/handlers/task-handlers.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import type { Announcement, Broadcast } from "../../../lib/ports/bus.ts";
import type { TaskMessage } from "../../../lib/ports/message.ts";
import { openTestQueues } from "../../support/local-queues.ts";

describe("idle", () => {
  test("waits for what is queued and running, not for what is due later", async () => {
    const { queues, time } = openTestQueues();
    let isIdle = false;
    queues.consume(consumers(() => time.pause(5_000)));
    await queues.tasks.send(aTask("k1"));
    await queues.tasks.send({ ...aTask("k2"), notBefore: instantFrom(time.now() + 3_600_000) });
    const idle = queues.idle().then(() => {
      isIdle = true;
    });
    await time.pass(4_999);
    expect(isIdle).toBe(false);
    await time.pass(1);

    await idle;
    expect(queues.whatIsLeft()).toEqual([]);
  });

  test("waits for the parts of a fan-out, including the delayed ones", async () => {
    const { queues, time } = openTestQueues();
    let isIdle = false;
    queues.consume(consumers(() => time.pause(1_000)));
    expect(await queues.bus.publish(aBroadcast)).toBe(true);
    await queues.work.send({ kind: "broadcast", tenant: "default", broadcastId: "b2" }, 5_000);
    const idle = queues.idle().then(() => {
      isIdle = true;
    });
    await time.pass(5_999);
    expect(isIdle).toBe(false);
    await time.pass(1);

    await idle;
    expect(queues.whatIsLeft()).toEqual([]);
  });
});

describe("the report of what is left", () => {
  test("names up to a hundred entries and counts the rest", async () => {
    const { queues } = openTestQueues();
    for (let n = 0; n < 150; n++) await queues.tasks.send(aTask(`k${n}`));

    const left = queues.whatIsLeft();
    expect(left).toHaveLength(101);
    expect(left.at(-1)).toBe("and 50 more");
  });
});

describe("closing", () => {
  test("lets running steps finish, and starts no other", async () => {
    const { queues, time } = openTestQueues({ concurrency: 1 });
    const log: string[] = [];
    queues.consume(
      consumers(async (ticket) => {
        log.push(`${ticket} begins`);
        await time.pause(1_000);
        log.push(`${ticket} ends`);
      }),
    );
    await queues.tasks.send(aTask("k1"));
    await queues.tasks.send(aTask("k2"));
    await queues.tasks.send({ ...aTask("k3"), notBefore: instantFrom(time.now() + 10) });
    await time.pass(0);
    const closed = queues.close({ graceMs: 5_000 });
    await time.pass(1_000);

    expect(await closed).toEqual(["task charge-card of instance order-1 is queued"]);
    await time.pass(60_000);
    expect(log).toEqual(["k1 begins", "k1 ends"]);
  });

  test("lets a running part of a fan-out finish, and starts no other", async () => {
    const { queues, time } = openTestQueues({ workAtOnce: 1 });
    const log: string[] = [];
    queues.consume(
      consumers(async (kind) => {
        log.push(`${kind} begins`);
        await time.pause(1_000);
        log.push(`${kind} ends`);
      }),
    );
    await queues.bus.publish(aBroadcast);
    await queues.bus.publish({ ...aBroadcast, broadcastId: "b2" });
    await queues.work.send({ kind: "broadcast", tenant: "default", broadcastId: "b3" }, 10);
    await time.pass(0);
    const closed = queues.close({ graceMs: 5_000 });
    await time.pass(1_000);

    expect(await closed).toEqual([
      "broadcast b2 is queued",
      "broadcast b3 waits to be tried again",
    ]);
    await time.pass(60_000);
    expect(log).toEqual(["broadcast begins", "broadcast ends"]);
  });

  test("aborts handlers after the grace period, and reports no outcome for them", async () => {
    const parts = openTestQueues();
    let aborted: unknown;
    const handlers = handlersFrom(
      {
        "charge-card": (_: unknown, { signal }: { signal: AbortSignal }) =>
          new Promise((_resolve, reject) =>
            signal.addEventListener("abort", () => {
              aborted = signal.reason;
              reject(signal.reason);
            }),
          ),
      },
      parts.runs,
    );
    const { queues, time, runs } = parts;
    const outcomes: unknown[] = [];
    queues.consume(
      consumers(async () => {
        outcomes.push(await handlers.get("charge-card")?.run({}, anAttempt));
      }),
    );
    await queues.tasks.send(aTask("k1"));
    await time.pass(0);
    const closed = queues.close({ graceMs: 5_000 });
    await time.pass(4_999);
    expect(aborted).toBeUndefined();
    await time.pass(1);

    expect(await closed).toEqual(["task charge-card of instance order-1 is running"]);
    expect(aborted).toMatchObject({ name: "AbortError" });
    expect(outcomes).toEqual([]);
    expect(runs.abandoned).toBe(1);
  });
});

describe("the bus of a process", () => {
  test("announces to its listeners, and offers nothing without one", async () => {
    const heard: Announcement[] = [];
    const { queues } = openTestQueues({ onAnnouncement: (it) => void heard.push(it) });
    const announcement: Announcement = {
      id: "order-1:1",
      tenant: "default",
      instanceId: "order-1",
      definition: { id: "order", version: 1 },
      notice: { type: "instance-ended", status: "succeeded", terminationKind: "success" },
    };
    await queues.bus.announce?.(announcement);

    expect(heard).toEqual([announcement]);
    expect(openTestQueues().queues.bus.announce).toBeUndefined();
  });
});

const aBroadcast: Broadcast = {
  tenant: "default",
  broadcastId: "b1",
  topic: { kind: "signal", name: "approved" },
  seq: 1,
  at: instantFrom(0),
};

const anAttempt = {
  taskId: "order-1.k1",
  instanceId: "order-1",
  ticket: "k1",
  element: "charge",
  idempotencyKey: "order-1:k1",
  attempt: 1,
  headers: {},
};

function consumers(handle: (ticket: string) => Promise<unknown>) {
  return {
    async handle(message: { kind: string; ticket?: string }) {
      await handle(message.ticket ?? message.kind);
      return "release" as const;
    },
    advance: async (messages: readonly unknown[]) => messages.map(() => "release" as const),
    onDue: async () => 1,
  };
}

function aTask(ticket: string): TaskMessage {
  const address = { tenant: "default", instanceId: "order-1" };
  return { kind: "task", ...address, ticket, attempt: 1, type: "charge-card" };
}
