// What every task queue must do. An adapter's test calls tasksContract with a way to open one.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Instant, instantFrom } from "../../lib/definition/time/instant.ts";
import type { TaskMessage, Verdict } from "../../lib/ports/message.ts";
import type { TaskHandler, Tasks } from "../../lib/ports/tasks.ts";

/** An empty queue, and its clock. */
export type OpenedTasks = Readonly<{
  tasks: Tasks;
  /** Delivers to this consumer from now on. */
  consume(consumer: (message: TaskMessage) => Promise<Verdict>): void;
  now(): Instant;
  /** Lets time pass by the queue's clock, and everything be delivered that becomes ready. */
  pass(ms: number): Promise<void>;
  /** The shortest delay that the queue can distinguish from none; a millisecond when absent. */
  resolutionMs?: number;
  close(): Promise<void>;
}>;

/** The maximum time until a message whose consumer failed is redelivered. */
export const BACK_WITHIN_MS = 120_000;

/** Declares the suite for one adapter; the queue is opened with these handlers. */
export function tasksContract(
  name: string,
  open: (handlers: ReadonlyMap<string, TaskHandler>) => Promise<OpenedTasks>,
): void {
  describe(name, () => {
    let opened: OpenedTasks;
    let delivered: string[];
    beforeEach(async () => {
      opened = await open(new Map([["charge-card", chargeCard]]));
      delivered = [];
    });
    afterEach(() => opened.close());

    /** Consumes with these verdicts in turn, "release" once they are used up. */
    function consume(...verdicts: (Verdict | Error)[]): void {
      opened.consume(async ({ ticket }) => {
        delivered.push(ticket);
        const verdict = verdicts.shift() ?? "release";
        if (verdict instanceof Error) throw verdict;
        return verdict;
      });
    }

    test("delivers a message whole", async () => {
      const message: TaskMessage = { ...aTask("k1.1"), notBefore: opened.now() };
      const messages: TaskMessage[] = [];
      opened.consume(async (arrived) => {
        messages.push(arrived);
        return "release";
      });

      await opened.tasks.send(message);
      await opened.pass(0);

      expect(messages).toEqual([message]);
    });

    test("delivers everything that was sent, before and after a consumer registered", async () => {
      await opened.tasks.send(aTask("k1.1"));
      consume();
      await opened.tasks.send(aTask("k1.2"));
      await opened.pass(0);

      expect(delivered.toSorted()).toEqual(["k1.1", "k1.2"]);
    });

    test("delivers nothing before its instant, and then does", async () => {
      consume();
      await opened.tasks.send({ ...aTask("k1.1"), notBefore: later(opened, 60_000) });

      await opened.pass(59_999);
      expect(delivered).toEqual([]);
      await opened.pass(1);
      expect(delivered).toEqual(["k1.1"]);
    });

    test("is exact to the millisecond, or to the precision of its technology", async () => {
      consume();
      await opened.tasks.send({ ...aTask("k1.1"), notBefore: later(opened, 1) });

      await opened.pass(0);
      expect(delivered).toEqual([]);
      await opened.pass(opened.resolutionMs ?? 1);
      expect(delivered).toEqual(["k1.1"]);
    });

    test("does not let a delayed message delay others", async () => {
      consume();
      await opened.tasks.send({ ...aTask("k1.1"), notBefore: later(opened, 60_000) });
      await opened.tasks.send({ ...aTask("k1.2"), notBefore: later(opened, 1_000) });
      await opened.tasks.send(aTask("k1.3"));

      await opened.pass(0);
      expect(delivered).toEqual(["k1.3"]);
      await opened.pass(1_000);
      expect(delivered).toEqual(["k1.3", "k1.2"]);
      await opened.pass(59_000);
      expect(delivered).toEqual(["k1.3", "k1.2", "k1.1"]);
    });

    test("redelivers a kept message after the time it was kept for, until it is released", async () => {
      consume({ keepForMs: 5_000 }, { keepForMs: 1_000 });
      await opened.tasks.send(aTask("k1.1"));

      await opened.pass(4_999);
      expect(delivered).toHaveLength(1);
      await opened.pass(1);
      expect(delivered).toHaveLength(2);
      await opened.pass(1_000);
      expect(delivered).toHaveLength(3);
      await opened.pass(BACK_WITHIN_MS);
      expect(delivered).toHaveLength(3);
    });

    test("redelivers a message whose consumer failed, after a pause", async () => {
      consume(new Error("no disk"), new Error("no disk"));
      await opened.tasks.send(aTask("k1.1"));

      await opened.pass(0);
      expect(delivered).toHaveLength(1);
      await opened.pass(BACK_WITHIN_MS);
      await opened.pass(BACK_WITHIN_MS);

      expect(delivered).toEqual(["k1.1", "k1.1", "k1.1"]);
    });

    test("a message that fails does not delay others", async () => {
      opened.consume(async ({ ticket }) => {
        delivered.push(ticket);
        if (ticket === "k1.1") throw new Error("poison");
        return "release";
      });
      await opened.tasks.send(aTask("k1.1"));
      await opened.tasks.send(aTask("k1.2"));

      await opened.pass(0);

      expect(delivered).toContain("k1.2");
    });

    test("delivers the same message as often as it is sent", async () => {
      consume();
      await opened.tasks.send(aTask("k1.1"));
      await opened.tasks.send(aTask("k1.1"));
      await opened.pass(0);

      expect(delivered).toEqual(["k1.1", "k1.1"]);
    });

    test("knows the handlers of its installation, and no others", () => {
      expect(opened.tasks.handlerOf("charge-card")).toBe(chargeCard);
      expect(opened.tasks.handlerOf("constructor")).toBeUndefined();
      expect(opened.tasks.types()).toEqual(["charge-card"]);
    });

    test("ignores a stop for a task that does not run", () => {
      expect(() => opened.tasks.stop("order-1", "k1.1")).not.toThrow();
    });
  });
}

const chargeCard: TaskHandler = {
  timeoutMs: 1_000,
  isolate: false,
  exclusive: false,
  run: async () => ({ kind: "completed", variables: {} }),
};

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

function later({ now }: OpenedTasks, ms: number): Instant {
  return instantFrom(now() + ms);
}
