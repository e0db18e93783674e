import { describe, expect, test } from "vitest";
import { MAX_DUE_PAGE } from "../../../lib/adapters/local/index-passes.ts";
import { HEAD_START_MS } from "../../../lib/adapters/local/timer-loop.ts";
import { type Instant, instantFrom } from "../../../lib/definition/time/instant.ts";
import type { Key } from "../../../lib/ports/store.ts";
import { instanceOfKey, openTestQueues } from "../../support/local-queues.ts";
import type { ManualTime } from "../../support/manual-time.ts";

describe("the timer loop", () => {
  test("reads no index while it waits, however long", async () => {
    const { time, index, arm } = opened();
    await arm("a", 3_600_000);
    await time.pass(0);
    const before = index.reads;
    await time.pass(3_599_999);

    expect(index.reads).toBe(before);
  });

  test("fires timers that were due before it started", async () => {
    const { queues, time, index } = openTestQueues();
    index.set("a", instantFrom(time.now() - 86_400_000));
    const woken: string[] = [];
    queues.timers.consume(consumer(woken, (instanceId) => index.set(instanceId, undefined)));
    await time.pass(0);

    expect(woken).toEqual(["a"]);
    expect(queues.timers.fired).toBe(1);
  });

  test("finds the next instant in the index by itself", async () => {
    const { queues, time, index } = openTestQueues();
    index.set("a", instantFrom(time.now() + 5_000));
    const woken: string[] = [];
    queues.timers.consume(consumer(woken, (instanceId) => index.set(instanceId, undefined)));
    await time.pass(5_000);

    expect(woken).toEqual(["a"]);
  });

  test("skips keys that are due since instant 0, because they owe something", async () => {
    const { time, index, woken, arm } = opened();
    index.set("owing", instantFrom(0));
    await arm("a", 1_000);
    await time.pass(60_000);

    expect(woken).toEqual(["a"]);
  });

  test("fires a timer from before 1970, which the index sorts after instant 0", async () => {
    const { queues, time, index, woken } = opened();
    await time.pass(0);
    index.set("old", instantFrom(1));
    await queues.timers.arm({ ...timer("old", instantFrom(-5_000)), covered: true });
    await time.pass(0);

    expect(woken).toEqual(["old"]);
  });

  test("fires a boundary timer while its task runs", async () => {
    const { queues, time, index, woken } = opened();
    index.set("a", instantFrom(0));
    await queues.timers.arm({ ...timer("a", instantFrom(time.now() + 1_000)), covered: false });
    await time.pass(1_000);

    expect(woken).toEqual(["timer of a"]);
  });

  test("fires a timer once when the index returns it again", async () => {
    const { queues, time, index, woken } = opened();
    const dueAt = instantFrom(time.now() + 1_000);
    await queues.timers.arm({ ...timer("a", dueAt), covered: false });
    index.set("a", dueAt);
    await queues.timers.arm({ ...timer("a", dueAt), covered: true });
    await time.pass(1_000);

    expect(woken).toEqual(["a"]);
  });

  test("fires every timer of an instance that becomes due again at once", async () => {
    const { queues, time, index } = openTestQueues();
    const due = [time.now() - 3_000, time.now() - 2_000, time.now() - 1_000].map(instantFrom);
    index.set("cycle", due.shift());
    const woken: string[] = [];
    queues.timers.consume(consumer(woken, (instanceId) => index.set(instanceId, due.shift())));
    await time.pass(0);

    expect(woken).toEqual(["cycle", "cycle", "cycle"]);
  });

  test("handles an instance one at a time, whichever way it became due", async () => {
    const { queues, time, index } = openTestQueues();
    const log: string[] = [];
    let end = () => {};
    queues.timers.consume({
      async onDue(key) {
        log.push(`due ${instanceOfKey(key)}`);
        await new Promise<void>((resolve) => {
          end = resolve;
        });
        index.set(instanceOfKey(key), undefined);
        return 1;
      },
      async onTimer({ instanceId }) {
        log.push(`timer of ${instanceId}`);
        return "release";
      },
    });
    index.set("a", instantFrom(time.now() + 10));
    await queues.timers.arm({ ...timer("a", instantFrom(time.now() + 10)), covered: true });
    await queues.timers.arm({ ...timer("a", instantFrom(time.now() + 20)), ticket: "t2.1" });
    await time.pass(1_000);
    expect(log).toEqual(["due a"]);

    end();
    await time.pass(0);
    expect(log).toEqual(["due a", "timer of a"]);
  });

  test("backs off from a key that stays due, longer each time, and reports it", async () => {
    const { queues, time, index, troubles } = openTestQueues();
    index.set("stuck", time.now());
    const start = time.now();
    const handledAt: number[] = [];
    queues.timers.consume({
      async onDue() {
        handledAt.push((time.now() - start) / 1_000);
        return 0;
      },
      onTimer: async () => "release",
    });
    await time.pass(70_000);

    expect(handledAt).toEqual([0, 1, 3, 7, 15, 31, 61]);
    expect(troubles[0]).toMatchObject({ about: "default#I#stuck / S", retryInMs: 1_000 });
    expect(queues.whatIsLeft()).toEqual(["default#I#stuck / S was looked at, but is still due"]);
  });

  test("continues with others while keys back off or fail", async () => {
    const { queues, time, index } = openTestQueues({ concurrency: 2 });
    for (let n = 0; n < MAX_DUE_PAGE + 10; n++) {
      index.set(`bad${n}`, instantFrom(time.now() - 10_000 + n));
    }
    index.set("good", time.now());
    const woken: string[] = [];
    queues.timers.consume({
      async onDue(key) {
        const instanceId = instanceOfKey(key);
        if (instanceId.startsWith("bad")) throw new Error("corrupt");
        woken.push(instanceId);
        index.set(instanceId, undefined);
        return 1;
      },
      onTimer: async () => "release",
    });
    await time.pass(0);

    expect(woken).toEqual(["good"]);
  });

  test("remembers a key that stays due during a long pass", async () => {
    const { queues, time, index } = openTestQueues();
    index.set("stuck", instantFrom(time.now() - 10_000));
    for (let n = 0; n < 3 * MAX_DUE_PAGE; n++) index.set(`i${n}`, time.now());
    let count = 0;
    queues.timers.consume({
      async onDue(key) {
        if (instanceOfKey(key) === "stuck") {
          count++;
          return 0;
        }
        index.set(instanceOfKey(key), undefined);
        return 1;
      },
      onTimer: async () => "release",
    });
    await time.pass(999);

    expect(count).toBe(1);
  });

  test("resets the back-off once the key has moved", async () => {
    const { queues, time, index } = openTestQueues();
    index.set("a", time.now());
    let fires = false;
    const handledAt: number[] = [];
    const start = time.now();
    queues.timers.consume({
      async onDue() {
        handledAt.push(time.now() - start);
        if (fires) index.set("a", undefined);
        return fires ? 1 : 0;
      },
      onTimer: async () => "release",
    });
    await time.pass(500);
    fires = true;
    index.set("a", undefined);
    await time.pass(1_500);
    index.set("a", instantFrom(start + 5_000));
    await queues.timers.arm({ ...timer("a", instantFrom(start + 5_000)), covered: true });
    await time.pass(10_000);

    expect(handledAt).toEqual([0, 5_000]);
    expect(queues.whatIsLeft()).toEqual([]);
  });

  test("reads the index again after a failed read", async () => {
    const { queues, time, index, troubles } = openTestQueues();
    const woken: string[] = [];
    index.set("a", time.now());
    index.failure = new Error("no disk");
    queues.timers.consume(consumer(woken, (instanceId) => index.set(instanceId, undefined)));
    await time.pass(2_000);
    expect(troubles).toHaveLength(2);

    index.failure = undefined;
    await time.pass(2_000);
    expect(woken).toEqual(["a"]);
  });

  test("loses and duplicates nothing when the clock jumps back and forth", async () => {
    const { time, woken, arm } = opened();
    await arm("soon", 1_000);
    await arm("late", 7_200_000);
    await time.pass(1_000);
    time.jump(-3_600_000);
    await arm("meanwhile", 1_000);
    await time.pass(1_000);
    expect(woken).toEqual(["soon", "meanwhile"]);

    time.jump(2 * 3_600_000);
    await time.pass(1_000);
    expect(woken).toEqual(["soon", "meanwhile"]);
    time.jump(3_600_000);
    await time.pass(1_000);
    expect(woken).toEqual(["soon", "meanwhile", "late"]);
  });

  test("wakes thousands that are due together, a few at a time", async () => {
    const { queues, time, index } = openTestQueues({ concurrency: 64 });
    const due = instantFrom(time.now() + 1_000);
    for (let n = 0; n < 3_000; n++) index.set(`i${n}`, due);
    let [running, most, count] = [0, 0, 0];
    queues.timers.consume({
      async onDue(key) {
        running++;
        most = Math.max(most, running);
        await Promise.resolve();
        index.set(instanceOfKey(key), undefined);
        running--;
        count++;
        return 1;
      },
      onTimer: async () => "release",
    });
    await time.pass(1_000);

    expect(count).toBe(3_000);
    expect(most).toBe(64);
  });
});

describe("a due key that is not an instance", () => {
  test("is passed on whole when it is due, and does not count as a timer", async () => {
    const { queues, time, index } = openTestQueues();
    const handled: Key[] = [];
    queues.timers.consume({
      async onDue(key) {
        handled.push(key);
        index.set(key, undefined);
        return 0;
      },
      onTimer: async () => "release",
    });
    index.set(MAILBOX, instantFrom(time.now() + 1_000));
    await queues.timers.arm({ ...timer("any", instantFrom(time.now() + 1_000)), covered: true });
    await time.pass(1_000);

    expect(handled).toEqual([MAILBOX]);
    expect(queues.timers.fired).toBe(0);
    expect(queues.whatIsLeft()).toEqual([]);
  });

  test("is found at its instant through the index, although no timer was armed", async () => {
    const { time, index, queues } = openTestQueues();
    const handledAt: number[] = [];
    queues.timers.consume({
      async onDue(key) {
        handledAt.push(time.now() - start);
        index.set(key, undefined);
        return 0;
      },
      onTimer: async () => "release",
    });
    const start = time.now();
    await time.pass(0);
    index.commit(MAILBOX, instantFrom(start + 60_000));
    await time.pass(10_000);
    index.commit({ ...MAILBOX, sk: "earlier" }, instantFrom(start + 10_500));
    await time.pass(60_000);

    expect(handledAt).toEqual([10_500, 60_000]);
  });

  test("is left for a while to the process that made it due", async () => {
    const { time, index, queues } = openTestQueues();
    const handled: string[] = [];
    queues.timers.consume({
      async onDue(key) {
        handled.push(key.sk);
        index.set(key, undefined);
        return 0;
      },
      onTimer: async () => "release",
    });
    await time.pass(0);
    index.commit({ ...MAILBOX, sk: "seen to" }, time.now());
    index.commit({ ...MAILBOX, sk: "left" }, time.now());
    await time.pass(HEAD_START_MS - 1);
    index.set({ ...MAILBOX, sk: "seen to" }, undefined);
    expect(handled).toEqual([]);
    await time.pass(1);
    expect(handled).toEqual(["left"]);

    index.commit({ ...MAILBOX, sk: "left again" }, time.now());
    await time.pass(HEAD_START_MS);
    expect(handled).toEqual(["left", "left again"]);
  });

  test("is not reported while the message sent for it is still running", async () => {
    const { queues, time, troubles, handledAt } = sending((time) => time.pause(100));
    await time.pass(0);
    expect(queues.whatIsLeft()).toEqual([
      "re-check of w1.1 of instance order-1 is running",
      "default#M#paid#42 / H was looked at, but is still due",
    ]);
    await time.pass(200);

    expect(handledAt).toEqual([0]);
    expect(troubles).toEqual([]);
    expect(queues.timers.fired).toBe(0);
    expect(queues.whatIsLeft()).toEqual([]);
  });

  test("delays idle by at most twice the duration of the message sent for it", async () => {
    const { queues, time } = sending((time) => time.pause(100));
    let isIdle = false;
    void queues.idle().then(() => {
      isIdle = true;
    });
    await time.pass(99);
    expect(isIdle).toBe(false);
    await time.pass(101);

    expect(isIdle).toBe(true);
  });

  test("is handled again, at growing intervals, while the message sent for it does not finish", async () => {
    const { time, index, handledAt } = sending(() => new Promise(() => {}));
    await time.pass(14_999);

    expect(handledAt).toEqual([0, 1_000, 3_000, 7_000]);
    expect(index.reads).toBeLessThan(50);
  });

  test("is reported in the end, however busy the queues are", async () => {
    const { time, troubles } = sending(() => new Promise(() => {}));
    await time.pass(14_999);
    expect(troubles).toEqual([]);
    await time.pass(1);

    expect(troubles).toMatchObject([{ about: "default#M#paid#42 / H", retryInMs: 16_000 }]);
  });
});

const MAILBOX: Key = { pk: "default#M#paid#42", sk: "H" };

/**
 * A loop for which a mailbox is due: it sends a re-check, which `takes` a while and removes the due
 * entry.
 */
function sending(takes: (time: ManualTime) => Promise<void>) {
  const parts = openTestQueues();
  const { queues, time, index } = parts;
  const handledAt: number[] = [];
  const start = time.now();
  index.set(MAILBOX, start);
  queues.consume({
    handle: async () => "release",
    async advance(messages) {
      await takes(time);
      index.set(MAILBOX, undefined);
      return messages.map(() => "release" as const);
    },
    async onDue() {
      handledAt.push(time.now() - start);
      const address = { tenant: "default", instanceId: "order-1", ticket: "w1.1" };
      await queues.parking.park({ kind: "look", name: "message-42", ...address });
      return 0;
    },
  });
  return { ...parts, handledAt };
}

/** A loop that records what it wakes; what is woken through the index is no longer due. */
function opened() {
  const parts = openTestQueues();
  const { queues, time, index } = parts;
  const woken: string[] = [];
  queues.timers.consume(consumer(woken, (instanceId) => index.set(instanceId, undefined)));
  return {
    ...parts,
    woken,
    async arm(instanceId: string, inMs: number) {
      const dueAt = instantFrom(time.now() + inMs);
      index.set(instanceId, dueAt);
      await queues.timers.arm({ ...timer(instanceId, dueAt), covered: true });
    },
  };
}

function consumer(woken: string[], handled: (instanceId: string) => void) {
  return {
    async onDue(key: Parameters<typeof instanceOfKey>[0]) {
      woken.push(instanceOfKey(key));
      handled(instanceOfKey(key));
      return 1;
    },
    async onTimer({ instanceId }: { instanceId: string }) {
      woken.push(`timer of ${instanceId}`);
      return "release" as const;
    },
  };
}

function timer(instanceId: string, dueAt: Instant) {
  return { tenant: "default", instanceId, ticket: "t1.1", dueAt, covered: false };
}
