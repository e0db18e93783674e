// What every work queue must do. An adapter's test calls workQueueContract with a way to open one.

import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Instant, instantFrom } from "../../lib/definition/time/instant.ts";
import type { Verdict, WorkMessage } from "../../lib/ports/message.ts";
import type { WorkQueue } from "../../lib/ports/work-queue.ts";
import { BACK_WITHIN_MS } from "./tasks.contract.ts";

/** An empty queue, and its clock. */
export type OpenedWorkQueue = Readonly<{
  queue: WorkQueue;
  /** Delivers to this consumer from now on. */
  consume(consumer: (message: WorkMessage) => Promise<Verdict>): void;
  /** The clock that delays use. */
  now(): Instant;
  /** Lets time pass by the queue's clock, and everything be delivered that becomes ready. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}>;

/** Declares the suite for one adapter; `runs` is how often a law is tried. */
export function workQueueContract(
  name: string,
  open: () => Promise<OpenedWorkQueue>,
  { runs = 50 } = {},
): void {
  describe(name, () => {
    let opened: OpenedWorkQueue;
    let delivered: string[];
    beforeEach(async () => {
      opened = await open();
      delivered = [];
    });
    afterEach(() => opened.close());

    /** Consumes with these verdicts in turn, "release" once they are used up. */
    function consume(...verdicts: (Verdict | Error)[]): void {
      opened.consume(async (message) => {
        delivered.push(nameOf(message));
        const verdict = verdicts.shift() ?? "release";
        if (verdict instanceof Error) throw verdict;
        return verdict;
      });
    }

    test("delivers a message whole, of every kind", async () => {
      const arrived: WorkMessage[] = [];
      opened.consume(async (message) => {
        arrived.push(message);
        return "release";
      });
      for (const message of everyKind) await opened.queue.send(message);
      await opened.pass(0);

      expect(arrived).toHaveLength(everyKind.length);
      expect(arrived).toEqual(expect.arrayContaining([...everyKind]));
    });

    test("delivers everything that was sent, before and after a consumer registered", async () => {
      await opened.queue.send(aPage("0"));
      consume();
      await opened.queue.send(aPage("1"));
      await opened.pass(0);

      expect(delivered.toSorted()).toEqual(["0", "1"]);
    });

    test("delivers nothing before its delay is over, and then does", async () => {
      consume();
      await opened.queue.send(aPage("0"), 60_000);

      await opened.pass(59_999);
      expect(delivered).toEqual([]);
      await opened.pass(1);
      expect(delivered).toEqual(["0"]);
    });

    test("treats a delay of zero as none", async () => {
      consume();
      await opened.queue.send(aPage("0"), 0);
      await opened.pass(0);

      expect(delivered).toEqual(["0"]);
    });

    test("does not let a delayed message delay others, even of the same broadcast", async () => {
      consume();
      await opened.queue.send(aPage("0"), 60_000);
      await opened.queue.send(aPage("1"), 1_000);
      await opened.queue.send(aPage("2"));

      await opened.pass(0);
      expect(delivered).toEqual(["2"]);
      await opened.pass(1_000);
      expect(delivered).toEqual(["2", "1"]);
      await opened.pass(59_000);
      expect(delivered).toEqual(["2", "1", "0"]);
    });

    test("redelivers a kept message after the time it was kept for, until it is released", async () => {
      consume({ keepForMs: 5_000 }, { keepForMs: 1_000 });
      await opened.queue.send(aPage("0"));

      await opened.pass(4_999);
      expect(delivered).toHaveLength(1);
      await opened.pass(1);
      expect(delivered).toHaveLength(2);
      await opened.pass(1_000);
      expect(delivered).toHaveLength(3);
      await opened.pass(BACK_WITHIN_MS);
      expect(delivered).toEqual(["0", "0", "0"]);
    });

    test("redelivers a message whose consumer failed, after a pause", async () => {
      consume(new Error("no disk"), new Error("no disk"));
      await opened.queue.send(aPage("0"));

      await opened.pass(0);
      expect(delivered).toHaveLength(1);
      await opened.pass(BACK_WITHIN_MS);
      await opened.pass(BACK_WITHIN_MS);
      expect(delivered).toEqual(["0", "0", "0"]);
    });

    test("neither loses nor delays others while a message fails", async () => {
      opened.consume(async (message) => {
        delivered.push(nameOf(message));
        if (nameOf(message) === "0") throw new Error("poison");
        return "release";
      });
      const others = Array.from({ length: 20 }, (_, n) => `${n + 1}`);
      for (const page of ["0", ...others]) await opened.queue.send(aPage(page));
      await opened.pass(0);

      expect(delivered.filter((page) => page !== "0").toSorted()).toEqual(others.toSorted());
      expect(delivered.filter((page) => page === "0")).toHaveLength(1);
    });

    test("delivers what a consumer sends while it is running", async () => {
      opened.consume(async (message) => {
        delivered.push(nameOf(message));
        if (nameOf(message) === "0") await opened.queue.send(aPage("1"));
        return "release";
      });
      await opened.queue.send(aPage("0"));
      await opened.pass(0);

      expect(delivered).toEqual(["0", "1"]);
    });

    test("delivers the same message as often as it is sent", async () => {
      consume();
      await opened.queue.send(aPage("0"));
      await opened.queue.send(aPage("0"));
      await opened.pass(0);

      expect(delivered).toEqual(["0", "0"]);
    });

    test("delivers each until it is released, and not before its time, whatever the order", async () => {
      const part = fc.record({
        afterMs: fc.integer({ min: 0, max: 5_000 }),
        keeps: fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 3 }),
        thenMs: fc.integer({ min: 0, max: 2_000 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(part, { maxLength: 20 }), async (parts) => {
          await opened.close();
          opened = await open();
          const mayComeAt = new Map<string, number>();
          const keeps = new Map<string, number[]>();
          const released: string[] = [];
          opened.consume(async (message) => {
            const page = nameOf(message);
            expect(released).not.toContain(page);
            expect(opened.now()).toBeGreaterThanOrEqual(mayComeAt.get(page) ?? Infinity);
            const keepForMs = keeps.get(page)?.shift();
            if (keepForMs === undefined) released.push(page);
            else mayComeAt.set(page, opened.now() + keepForMs);
            return keepForMs === undefined ? "release" : { keepForMs };
          });
          for (const [n, { afterMs, thenMs, ...part }] of parts.entries()) {
            mayComeAt.set(`${n}`, opened.now() + afterMs);
            keeps.set(`${n}`, [...part.keeps]);
            await opened.queue.send(aPage(`${n}`), afterMs);
            await opened.pass(thenMs);
          }
          await opened.pass(BACK_WITHIN_MS);

          expect(released.toSorted()).toEqual([...mayComeAt.keys()].toSorted());
        }),
        { numRuns: runs },
      );
    });
  });
}

const of = { tenant: "default", broadcastId: "b1" } as const;

const everyKind: readonly WorkMessage[] = [
  { kind: "broadcast", ...of },
  { kind: "watch", ...of },
  { kind: "shard", ...of, epoch: 1, shard: 0, page: 0 },
  { kind: "shard", ...of, epoch: 1, shard: 1, page: 50, from: "order-7#w1.1" },
  {
    kind: "page",
    ...of,

    page: "1.0.0",
    last: true,
    rows: [
      { ...rowOf("order-1#w1.1"), instanceId: "order-1", ticket: "w1.1", version: 1 },
      { ...rowOf("D#order#start"), definitionId: "order", element: "start" },
    ],
  },
  { kind: "offer", tenant: "default", name: "paid", seq: 7 },
  { kind: "poke", tenant: "default", name: "paid", key: "order 42" },
];

function rowOf(sk: string) {
  return { pk: "default#G#approved#1.0", sk, after: 41, at: instantFrom(0) };
}

function aPage(page: string): WorkMessage {
  return { kind: "page", ...of, page, last: false, rows: [] };
}

function nameOf(message: WorkMessage): string {
  return message.kind === "page" ? message.page : message.kind;
}
