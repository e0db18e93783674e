import { describe, expect, test } from "vitest";
import { MAX_FAILED_DELIVERIES } from "../../../lib/definition/limits.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { EngineError } from "../../../lib/ports/engine-error.ts";
import type { Invocation, Verdict } from "../../../lib/ports/message.ts";
import { openTestQueues, type TestQueues } from "../../support/local-queues.ts";

const instance = { tenant: "default", instanceId: "one" } as const;
const owed = (name: string) => ({ kind: "owed", ...instance, name }) as const;

/** Longer than any pause between two attempts. */
const LONG_MS = 31_000;

/** What each queue of a process delivers, one message each. */
const QUEUES: Readonly<
  Record<string, (queues: TestQueues["queues"], seen: (by: Invocation) => Promise<Verdict>) => void>
> = {
  tasks: (queues, seen) => {
    queues.tasks.consume((_, by) => seen(by));
    void queues.tasks.send({ kind: "task", ...instance, ticket: "k1.1", attempt: 1, type: "work" });
  },
  parking: (queues, seen) => {
    queues.parking.consume(async (messages, by) => {
      const verdict = await seen(by);
      return messages.map(() => verdict);
    });
    void queues.parking.park(owed("t1.1"));
  },
  work: (queues, seen) => {
    queues.work.consume((_, by) => seen(by));
    void queues.work.send({ kind: "watch", tenant: "default", broadcastId: "b" });
  },
  timers: (queues, seen) => {
    queues.timers.consume({ onTimer: (_, by) => seen(by), onDue: async () => 0 });
    void queues.timers.arm({ ...instance, ticket: "t1.1", dueAt: instantFrom(1), covered: false });
  },
};

const busy = new EngineError("engine/busy", {
  happened: "It is busy",
  where: "here",
  fix: "Wait.",
  retryable: true,
});

async function fail(which: string, error: Error, times: number): Promise<readonly boolean[]> {
  const { queues, time } = openTestQueues();
  const asides: boolean[] = [];
  QUEUES[which]?.(queues, async ({ aside }) => {
    asides.push(aside !== undefined);
    if (aside !== undefined) return "release";
    throw error;
  });
  for (let n = 0; n < times; n++) await time.pass(LONG_MS);
  return asides;
}

describe.each(Object.keys(QUEUES))("a message of the queue of %s", (which) => {
  test("that keeps failing is set aside after its limit, and not before", async () => {
    const asides = await fail(which, new Error("broken"), MAX_FAILED_DELIVERIES + 3);

    expect(asides).toEqual([...Array(MAX_FAILED_DELIVERIES).fill(false), true]);
  });

  test("that fails because the store is busy is retried without limit", async () => {
    const asides = await fail(which, busy, MAX_FAILED_DELIVERIES + 3);

    expect(asides.length).toBeGreaterThan(MAX_FAILED_DELIVERIES);
    expect(asides).not.toContain(true);
  });
});

describe("messages that are parked together", () => {
  test("are taken one by one after a failure, and only the broken one is set aside", async () => {
    const { queues, time } = openTestQueues();
    const taken: string[] = [];
    queues.parking.consume(async (messages, { aside }) => {
      const names = messages.map(({ name }) => name);
      if (aside === undefined && names.includes("broken")) throw new Error("broken");
      taken.push(`${names.join(" ")}${aside === undefined ? "" : " aside"}`);
      return messages.map((): Verdict => "release");
    });
    for (const name of ["first", "broken", "last"]) await queues.parking.park(owed(name));
    for (let n = 0; n < MAX_FAILED_DELIVERIES + 3; n++) await time.pass(LONG_MS);

    expect(taken).toEqual(["first", "broken aside", "last"]);
  });
});
