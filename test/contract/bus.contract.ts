// What every bus must do. An adapter's test calls busContract with a way to open one.

import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import type { Announcement, Broadcast, Bus } from "../../lib/ports/bus.ts";
import type { Verdict, WorkMessage } from "../../lib/ports/message.ts";
import { BACK_WITHIN_MS } from "./tasks.contract.ts";

/** A bus on which nothing is in progress, and its consumer. */
export type OpenedBus = Readonly<{
  bus: Bus;
  /** Delivers broadcasts to this consumer from now on. */
  consume(consumer: (message: WorkMessage) => Promise<Verdict>): void;
  /** Lets time pass, and everything be delivered that was published by then. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}>;

/** Attempts after which a bus that may refuse must have accepted a broadcast. */
const TRIES = 10;

/** Declares the suite for one adapter; `runs` is how often a law is tried. */
export function busContract(
  name: string,
  open: () => Promise<OpenedBus>,
  { runs = 50 } = {},
): void {
  describe(name, () => {
    let opened: OpenedBus;
    let brought: WorkMessage[];
    beforeEach(async () => {
      await reopen();
    });
    afterEach(() => opened.close());

    async function reopen(): Promise<void> {
      opened = await open();
      brought = [];
    }

    function consume(judge: (id: string) => Verdict = () => "release"): void {
      opened.consume(async (message) => {
        brought.push(message);
        return judge(idOf(message));
      });
    }

    /** As a publisher has to: repeated until it is accepted. */
    async function publish(id: string): Promise<void> {
      for (let tries = 0; tries < TRIES; tries++) {
        if (await opened.bus.publish(aBroadcast(id))) return;
      }
      throw new Error(`${id} was refused ${TRIES} times`);
    }

    const timesOf = (id: string) => brought.filter((message) => idOf(message) === id).length;

    test("delivers a broadcast as its message, and nothing else", async () => {
      consume();
      await publish("b1");
      await opened.pass(BACK_WITHIN_MS);

      const message = { kind: "broadcast", tenant: "default", broadcastId: "b1" };
      expect(brought.length).toBeGreaterThan(0);
      for (const other of brought) expect(other).toEqual(message);
    });

    test("delivers what was published before the first consumer", async () => {
      await publish("b1");
      await opened.pass(1_000);
      consume();
      await publish("b2");
      await opened.pass(BACK_WITHIN_MS);

      expect(new Set(brought.map(idOf))).toEqual(new Set(["b1", "b2"]));
    });

    test("delivers a broadcast again when it is published again", async () => {
      consume();
      await publish("b1");
      await opened.pass(BACK_WITHIN_MS);
      const times = timesOf("b1");
      await publish("b1");
      await opened.pass(BACK_WITHIN_MS);

      expect(timesOf("b1")).toBeGreaterThan(times);
    });

    test("redelivers a broadcast until it is released", async () => {
      const verdicts: Verdict[] = [{ keepForMs: 5_000 }, { keepForMs: 1_000 }];
      consume(() => verdicts.shift() ?? "release");
      await publish("b1");
      await opened.pass(BACK_WITHIN_MS);
      const times = timesOf("b1");
      expect(times).toBeGreaterThanOrEqual(3);

      await opened.pass(BACK_WITHIN_MS);
      expect(timesOf("b1")).toBe(times);
    });

    test("neither loses nor delays others while a broadcast cannot be fanned out", async () => {
      let isBroken = true;
      consume((id) => {
        if (isBroken && id === "b1") throw new Error("no disk");
        return "release";
      });
      await publish("b1");
      await publish("b2");
      await opened.pass(60_000);
      expect(timesOf("b2")).toBeGreaterThan(0);

      isBroken = false;
      const times = timesOf("b1");
      await opened.pass(BACK_WITHIN_MS);
      expect(timesOf("b1")).toBeGreaterThan(times);
    });

    test("delivers everything that it accepted, and only what was published", async () => {
      const ids = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 30 });
      await fc.assert(
        fc.asyncProperty(ids, async (numbers) => {
          await opened.close();
          await reopen();
          consume();
          const published = new Set<string>();
          const taken = new Set<string>();
          for (const n of numbers) {
            published.add(`b${n}`);
            if (await opened.bus.publish(aBroadcast(`b${n}`))) taken.add(`b${n}`);
          }
          await opened.pass(BACK_WITHIN_MS);

          const seen = new Set(brought.map(idOf));
          expect([...taken].filter((id) => !seen.has(id))).toEqual([]);
          expect([...seen].filter((id) => !published.has(id))).toEqual([]);
        }),
        { numRuns: runs },
      );
    });

    test("delivers no announcement to the fan-out", async () => {
      consume();
      await opened.bus.announce?.(anAnnouncement);
      await opened.pass(BACK_WITHIN_MS);

      expect(brought).toEqual([]);
    });
  });
}

function aBroadcast(broadcastId: string): Broadcast {
  const topic = { kind: "signal", name: "approved" } as const;
  return { tenant: "default", broadcastId, topic, seq: 42, at: instantFrom(0) };
}

const anAnnouncement: Announcement = {
  id: "order-1:e3.1",
  tenant: "default",
  instanceId: "order-1",
  definition: { id: "order", version: 1 },
  notice: { type: "instance-ended", status: "succeeded", terminationKind: "success" },
};

function idOf(message: WorkMessage): string {
  return message.kind === "broadcast" ? message.broadcastId : message.kind;
}
