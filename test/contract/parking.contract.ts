// What every parking queue must do. An adapter's test calls parkingContract with a way to open one.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LookMessage, OwedMessage, ParkedMessage, Verdict } from "../../lib/ports/message.ts";
import type { Parking } from "../../lib/ports/parking.ts";
import { BACK_WITHIN_MS } from "./tasks.contract.ts";

type Parked = ParkedMessage | OwedMessage | LookMessage;

/** An empty queue, and its clock. */
export type OpenedParking = Readonly<{
  parking: Parking;
  /** Delivers to this consumer from now on. */
  consume(consumer: (messages: readonly Parked[]) => Promise<readonly Verdict[]>): void;
  /** Lets time pass by the queue's clock, and everything be delivered that becomes ready. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}>;

/** Declares the suite for one adapter. */
export function parkingContract(name: string, open: () => Promise<OpenedParking>): void {
  describe(name, () => {
    let opened: OpenedParking;
    let batches: (readonly string[])[];
    beforeEach(async () => {
      opened = await open();
      batches = [];
    });
    afterEach(() => opened.close());

    function consume(judge: (names: readonly string[]) => readonly Verdict[] = releaseAll): void {
      opened.consume(async (messages) => {
        const names = messages.map(({ instanceId, name }) => `${instanceId}:${name}`);
        batches.push(names);
        return judge(names);
      });
    }

    async function park(...names: string[]): Promise<void> {
      for (const name of names) await opened.parking.park(aParked(name));
    }

    test("delivers a message whole, of every kind", async () => {
      const sent: Parked[] = [
        aParked("a:k1.1"),
        { kind: "owed", tenant: "default", instanceId: "b", name: "k1.1/1" },
        { kind: "look", tenant: "default", instanceId: "c", name: "message-42", ticket: "w1.1" },
      ];
      const arrived: Parked[] = [];
      opened.consume(async (messages) => {
        arrived.push(...messages);
        return messages.map(() => "release" as const);
      });

      for (const message of sent) await opened.parking.park(message);
      await opened.pass(0);

      expect(arrived).toEqual(sent);
    });

    test("delivers only messages of one instance together, up to ten", async () => {
      const names = Array.from({ length: 12 }, (_, n) => `a:k${n}`);
      await park(...names, "b:k1");
      consume();
      await opened.pass(0);

      expect(batches.map((batch) => batch.length).toSorted()).toEqual([1, 10, 2].toSorted());
      expect(batches.flat().toSorted()).toEqual([...names, "b:k1"].toSorted());
      for (const batch of batches) {
        expect(new Set(batch.map((message) => message.split(":")[0])).size).toBe(1);
      }
    });

    test("preserves the order of an instance as far as possible", async () => {
      consume();
      await park("a:k1", "b:k1", "a:k2", "b:k2", "a:k3");
      await opened.pass(0);

      const order = batches.flat();
      expect(order.filter((message) => message.startsWith("a"))).toEqual(["a:k1", "a:k2", "a:k3"]);
      expect(order.filter((message) => message.startsWith("b"))).toEqual(["b:k1", "b:k2"]);
    });

    test("keeps a re-check in the group of its instance", async () => {
      const address = { tenant: "default", instanceId: "a" };
      await park("a:k1", "b:k1");
      await opened.parking.park({ kind: "look", ...address, name: "m1", ticket: "w1.1" });
      await park("a:k2");
      consume();
      await opened.pass(0);

      const order = batches.flat().filter((message) => message.startsWith("a"));
      expect(order).toEqual(["a:k1", "a:m1", "a:k2"]);
      expect(batches).toHaveLength(2);
    });

    test("redelivers a kept message after the time it was kept for", async () => {
      const verdicts: (readonly Verdict[])[] = [[{ keepForMs: 5_000 }]];
      consume((names) => verdicts.shift() ?? releaseAll(names));
      await park("a:k1");

      await opened.pass(4_999);
      expect(batches).toEqual([["a:k1"]]);
      await opened.pass(1);
      expect(batches).toEqual([["a:k1"], ["a:k1"]]);
      await opened.pass(BACK_WITHIN_MS);
      expect(batches).toHaveLength(2);
    });

    test("releases and keeps each message of a batch by its own verdict", async () => {
      const verdicts: (readonly Verdict[])[] = [["release", { keepForMs: 1_000 }, "release"]];
      await park("a:k1", "a:k2", "a:k3");
      consume((names) => verdicts.shift() ?? releaseAll(names));
      await opened.pass(BACK_WITHIN_MS);

      const times = (name: string) => batches.flat().filter((other) => other === name).length;
      expect(["a:k1", "a:k2", "a:k3"].map(times)).toEqual([1, 2, 1]);
    });

    test("redelivers everything whose consumer failed, and lets other instances continue", async () => {
      let isBroken = true;
      consume((names) => {
        if (isBroken && names.some((message) => message.startsWith("a")))
          throw new Error("no disk");
        return releaseAll(names);
      });
      await park("a:k1", "a:k2", "b:k1");
      await opened.pass(0);
      expect(batches.flat()).toContain("b:k1");

      isBroken = false;
      batches = [];
      await opened.pass(BACK_WITHIN_MS);
      await opened.pass(BACK_WITHIN_MS);

      expect(batches.flat().toSorted()).toEqual(["a:k1", "a:k2"]);
    });

    test("delivers the same message as often as it was parked", async () => {
      consume();
      await park("a:k1");
      await opened.pass(0);
      await park("a:k1");
      await opened.pass(0);

      expect(batches.flat()).toEqual(["a:k1", "a:k1"]);
    });
  });
}

function releaseAll(names: readonly string[]): readonly Verdict[] {
  return names.map(() => "release" as const);
}

/** `<instance>:<ticket>` */
function aParked(name: string): ParkedMessage {
  const [instanceId = "", ticket = ""] = name.split(":");
  const fact = { kind: "continued", ticket } as const;
  return { kind: "parked", tenant: "default", instanceId, name: ticket, fact };
}
