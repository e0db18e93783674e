import { describe, expect, test } from "vitest";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import type { Invocation, TaskMessage, Verdict } from "../../../lib/ports/message.ts";
import { openTestQueues } from "../../support/local-queues.ts";

describe("the task queue of a process", () => {
  test("runs up to its limit at a time, the rest in order", async () => {
    const { queues, time } = openTestQueues({ concurrency: 2 });
    const gate = gated();
    queues.tasks.consume(gate.consume);
    for (const ticket of ["k1", "k2", "k3", "k4"]) await queues.tasks.send(aTask(ticket));

    await time.pass(0);
    expect(gate.started).toEqual(["k1", "k2"]);
    gate.finish("k2");
    await time.pass(0);
    expect(gate.started).toEqual(["k1", "k2", "k3"]);
    expect(queues.whatIsLeft()).toEqual([
      "task charge-card of instance order-1 is running",
      "task charge-card of instance order-1 is running",
      "task charge-card of instance order-1 is queued",
    ]);
  });

  test("pauses longer after each failure, up to 30 s, and reports each", async () => {
    const { queues, time, troubles } = openTestQueues();
    const deliveredAt: number[] = [];
    const start = time.now();
    queues.tasks.consume(async () => {
      deliveredAt.push((time.now() - start) / 1_000);
      throw new Error("no disk");
    });
    await queues.tasks.send(aTask("k1"));
    await time.pass(100_000);

    expect(deliveredAt).toEqual([0, 1, 3, 7, 15, 31, 61, 91]);
    expect(troubles.map(({ retryInMs }) => retryInMs / 1_000)).toEqual([
      1, 2, 4, 8, 16, 30, 30, 30,
    ]);
    expect(troubles[0]).toMatchObject({
      error: new Error("no disk"),
      about: "task charge-card of instance order-1",
    });
  });

  test("counts failures from zero after a successful delivery", async () => {
    const { queues, time, troubles } = openTestQueues();
    const results: (Verdict | Error)[] = [new Error("1"), { keepForMs: 10 }, new Error("2")];
    queues.tasks.consume(async () => {
      const result = results.shift() ?? "release";
      if (result instanceof Error) throw result;
      return result;
    });
    await queues.tasks.send(aTask("k1"));
    await time.pass(10_000);

    expect(troubles.map(({ retryInMs }) => retryInMs)).toEqual([1_000, 1_000]);
    expect(queues.whatIsLeft()).toEqual([]);
  });

  test("is no busy loop even when a consumer keeps a message for 0 ms", async () => {
    const { queues, time } = openTestQueues();
    let count = 0;
    queues.tasks.consume(async () => {
      count++;
      return { keepForMs: 0 };
    });
    await queues.tasks.send(aTask("k1"));
    await time.pass(1_000);

    expect(count).toBeGreaterThan(10);
    expect(count).toBeLessThanOrEqual(201);
  });

  test("retries by real time even when the engine's clock stands still or jumps", async () => {
    const { queues, time } = openTestQueues();
    const verdicts: Verdict[] = [{ keepForMs: 2_000 }];
    let count = 0;
    queues.tasks.consume(async () => {
      count++;
      return verdicts.shift() ?? "release";
    });
    await queues.tasks.send(aTask("k1"));
    await time.pass(0);
    time.jump(-3_600_000);
    await time.pass(2_000);

    expect(count).toBe(2);
  });

  test("holds a message from sending until it is released", async () => {
    const { queues, time } = openTestQueues();
    const gate = gated();
    await queues.tasks.send({ ...aTask("k1"), notBefore: instantFrom(time.now() + 1_000) });
    expect(queues.tasks.holds("order-1", "k1")).toBe(true);
    expect(queues.tasks.holds("order-1", "k1", 1)).toBe(true);
    expect(queues.tasks.holds("order-1", "k1", 2)).toBe(false);
    expect(queues.tasks.holds("order-1", "k2")).toBe(false);
    expect(queues.tasks.holds("order-2", "k1")).toBe(false);

    queues.tasks.consume(gate.consume);
    await time.pass(1_000);
    expect(gate.started).toEqual(["k1"]);
    expect(queues.tasks.holds("order-1", "k1")).toBe(true);

    gate.finish("k1");
    await time.pass(0);
    expect(queues.tasks.holds("order-1", "k1")).toBe(false);
    expect(queues.tasks.holds("order-1", "k1", 1)).toBe(false);
  });

  test("holds a ticket while one of two messages for it is left", async () => {
    const { queues, time } = openTestQueues({ concurrency: 1 });
    const gate = gated();
    queues.tasks.consume(gate.consume);
    await queues.tasks.send(aTask("k1"));
    await queues.tasks.send({ ...aTask("k1"), attempt: 2 });
    await time.pass(0);
    gate.finish("k1");
    await time.pass(0);

    expect(queues.tasks.holds("order-1", "k1")).toBe(true);
  });

  test("gives every delivery its own name, and lets it continue in place", async () => {
    const { queues, time } = openTestQueues();
    const invocations: Invocation[] = [];
    queues.tasks.consume(async (_, invocation) => {
      invocations.push(invocation);
      return invocations.length === 1 ? { keepForMs: 10 } : "release";
    });
    const { bootId } = queues.invocations;
    await queues.tasks.send(aTask("k1"));
    await time.pass(10);

    expect(invocations.map(({ id }) => id)).toEqual([`${bootId}-1`, `${bootId}-2`]);
    expect(invocations[0]).toMatchObject({ mayContinue: true });
    expect(invocations[0]?.until).toBeGreaterThan(time.now());
  });

  test("knows that an owner is dead as soon as its delivery is over", async () => {
    const { queues, time } = openTestQueues();
    const gate = gated();
    queues.tasks.consume(gate.consume);
    await queues.tasks.send(aTask("k1"));
    await time.pass(0);
    const own = gate.invocations[0]?.id ?? "";

    expect(queues.invocations.isDeadOwner(own)).toBe(false);
    gate.finish("k1");
    await time.pass(0);
    expect(queues.invocations.isDeadOwner(own)).toBe(true);
    expect(queues.invocations.isDeadOwner("another-life-1")).toBe(true);
  });
});

describe("the parking queue of a process", () => {
  test("advances an instance once at a time, and several instances together", async () => {
    const { queues, time } = openTestQueues();
    const running: string[] = [];
    const ends: (() => void)[] = [];
    queues.parking.consume(async (messages) => {
      running.push(messages.map(({ instanceId, name }) => `${instanceId}:${name}`).join(" "));
      await new Promise<void>((resolve) => ends.push(resolve));
      return messages.map(() => "release" as const);
    });
    await queues.parking.park(owed("a", "1"));
    await queues.parking.park(owed("b", "1"));
    await time.pass(0);
    await queues.parking.park(owed("a", "2"));
    await queues.parking.park(owed("a", "3"));
    await time.pass(0);
    expect(running).toEqual(["a:1", "b:1"]);

    ends[0]?.();
    await time.pass(0);
    expect(running).toEqual(["a:1", "b:1", "a:2 a:3"]);
  });

  test("keeps the order of an instance when the first message of a batch is kept", async () => {
    const { queues, time } = openTestQueues();
    const batches: string[] = [];
    for (const name of ["1", "2", "3"]) await queues.parking.park(owed("a", name));
    queues.parking.consume(async (messages) => {
      batches.push(messages.map(({ name }) => name).join(" "));
      if (batches.length > 1) return messages.map(() => "release" as const);
      await queues.parking.park(owed("a", "4"));
      return [{ keepForMs: 1_000 }, "release", { keepForMs: 5_000 }];
    });
    await time.pass(0);
    await queues.parking.park(owed("a", "5"));
    await time.pass(1_000);

    expect(batches).toEqual(["1 2 3", "1 3 4 5"]);
  });
});

function aTask(ticket: string): TaskMessage {
  return {
    kind: "task",
    tenant: "default",
    instanceId: "order-1",
    ticket,
    attempt: 1,
    type: "charge-card",
  };
}

function owed(instanceId: string, name: string) {
  return { kind: "owed", tenant: "default", instanceId, name } as const;
}

/** A consumer whose deliveries end when the test says so. */
function gated() {
  const started: string[] = [];
  const invocations: Invocation[] = [];
  const ends = new Map<string, () => void>();
  return {
    started,
    invocations,
    finish: (ticket: string) => ends.get(ticket)?.(),
    async consume({ ticket }: TaskMessage, invocation: Invocation): Promise<Verdict> {
      started.push(ticket);
      invocations.push(invocation);
      await new Promise<void>((resolve) => ends.set(ticket, resolve));
      return "release";
    },
  };
}
