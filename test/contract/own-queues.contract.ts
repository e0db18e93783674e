// What every adapter of a user's own queues must do. An adapter's test calls ownQueuesContract with
// a way to open some.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { OwnQueues } from "../../lib/ports/own-queues.ts";

/** A user's queues, some of which are usable for tasks, and their clock. */
export type OpenedOwnQueues = Readonly<{
  queues: OwnQueues;
  arns: Readonly<{
    /** Two that can be sent to. */
    one: string;
    other: string;
    /** Accepts nothing larger than 2,048 bytes. */
    narrow: string;
    /** It exists, and the installation does not list it. */
    untold: string;
    /** The installation lists these, and they are unusable, each for the reason in its name. */
    gone: string;
    fifo: string;
    elsewhere: string;
    ofStrangers: string;
  }>;
  /** Everything that can be received from a queue; it is deleted. */
  receive(queueArn: string): Promise<readonly string[]>;
  /** Lets time pass by the queues' clock. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}>;

/** Declares the suite for one adapter. */
export function ownQueuesContract(name: string, open: () => Promise<OpenedOwnQueues>): void {
  describe(name, () => {
    let opened: OpenedOwnQueues;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.close());

    test("deliver a text unchanged, whatever its characters", async () => {
      const { queues, arns, receive } = opened;
      const task = { taskId: "one.k1.1", odd: `\u0000\u001f "\\\n é 🙂 \ud800 \uFFFE\uFFFF` };

      const sent = await queues.send(arns.one, JSON.stringify(task), 0);

      expect(sent).toBe("sent");
      const [body = "", ...more] = await receive(arns.one);
      expect(JSON.parse(body)).toEqual(task);
      expect(more).toEqual([]);
    });

    test("deliver a text of 256 KB", async () => {
      const { queues, arns, receive } = opened;
      const body = "x".repeat(256 * 1_024);

      expect(await queues.send(arns.one, body, 0)).toBe("sent");
      expect(await receive(arns.one)).toEqual([body]);
    });

    test("receive what is sent to them, and nothing else", async () => {
      const { queues, arns, receive } = opened;

      await queues.send(arns.one, "1", 0);
      await queues.send(arns.other, "2", 0);
      await queues.send(arns.one, "3", 0);

      expect([...(await receive(arns.one))].sort()).toEqual(["1", "3"]);
      expect(await receive(arns.other)).toEqual(["2"]);
    });

    test("receive the same text as often as it is sent", async () => {
      const { queues, arns, receive } = opened;

      await queues.send(arns.one, "again", 0);
      await queues.send(arns.one, "again", 0);

      expect(await receive(arns.one)).toEqual(["again", "again"]);
    });

    test("delay a text for the given time", async () => {
      const { queues, arns, receive, pass } = opened;
      await queues.send(arns.one, "late", 60_000);
      await queues.send(arns.one, "later", 900_000);

      await pass(59_000);
      expect(await receive(arns.one)).toEqual([]);
      await pass(1_000);
      expect(await receive(arns.one)).toEqual(["late"]);
      await pass(840_000);
      expect(await receive(arns.one)).toEqual(["later"]);
    });

    test("refuse a text that is too large, and accept the largest", async () => {
      const { queues, arns, receive } = opened;

      expect(await queues.send(arns.narrow, "x".repeat(2_049), 0)).toBe("refused");
      expect(await queues.send(arns.narrow, "x".repeat(2_048), 0)).toBe("sent");
      expect(await receive(arns.narrow)).toEqual(["x".repeat(2_048)]);
    });

    test("are valid if they can be sent to", async () => {
      const { queues, arns } = opened;

      expect(queues.allows(arns.one)).toBe(true);
      expect(await queues.problemOf(arns.one)).toBeUndefined();
    });

    test("receive nothing unless the installation lists them", async () => {
      const { queues, arns, receive } = opened;

      expect(queues.allows(arns.untold)).toBe(false);
      expect(await queues.problemOf(arns.untold)).toContain("was not deployed with it");
      expect(await queues.send(arns.untold, "text", 0)).toBe("refused");
      expect(await receive(arns.untold)).toEqual([]);
    });

    test.each([
      ["gone", /no such queue|QueueDoesNotExist/],
      ["fifo", /FIFO/],
      ["elsewhere", /in eu-central-1, and this installation in us-east-1/],
      ["ofStrangers", /no such queue|QueueDoesNotExist|AccessDenied/],
    ] as const)("that are unusable give the reason, and refuse: %s", async (which, why) => {
      const { queues, arns } = opened;

      expect(queues.allows(arns[which])).toBe(true);
      expect(await queues.problemOf(arns[which])).toMatch(why);
      expect(await queues.send(arns[which], "text", 0)).toBe("refused");
    });
  });
}
