import { describe, expect, test } from "vitest";
import { whileHeld } from "../../functions/middleware/heartbeat.ts";
import { ManualTime } from "../support/manual-time.ts";
import { aRecord, RecordingQueue } from "../support/queue-events.ts";

describe("a message that is processed for a long time", () => {
  test("gets its visibility extended every 20 seconds until the work is over", async () => {
    const { time, queue, heart } = aHeart();
    const work = Promise.withResolvers<string>();

    const held = whileHeld(aRecord("x"), () => work.promise, heart);
    await time.pass(50_000);
    work.resolve("done");

    expect(await held).toBe("done");
    await time.pass(100_000);
    expect(queue.asked).toEqual(["hide m1 60", "hide m1 60", "hide m1 60"]);
  });

  test("is not extended any more when the work fails", async () => {
    const { time, heart } = aHeart();

    await expect(
      whileHeld(aRecord("x"), () => Promise.reject(new Error("broken")), heart),
    ).rejects.toThrow("broken");

    expect(time.alarms).toBe(0);
  });

  test("is extended again after one failed extension", async () => {
    const { time, queue, heart, troubles } = aHeart();
    const work = Promise.withResolvers<string>();
    queue.failure = new Error("no way there");

    const held = whileHeld(aRecord("x"), () => work.promise, heart);
    await time.pass(10_000);
    queue.failure = undefined;
    await time.pass(10_000);
    work.resolve("done");

    expect(await held).toBe("done");
    expect(troubles).toHaveLength(1);
    expect(queue.asked).toEqual(["hide m1 60"]);
  });
});

describe("the last heartbeat", () => {
  test("is over before the fate of the message is decided", async () => {
    const { time, queue, heart } = aHeart();
    const work = Promise.withResolvers<string>();
    const slow = Promise.withResolvers<void>();
    let beats = 0;
    const hide: typeof queue.hide = async (record, seconds) => {
      beats += 1;
      if (beats === 2) await slow.promise;
      await queue.hide(record, seconds);
    };

    const held = whileHeld(aRecord("x"), () => work.promise, { ...heart, queue: { hide } });
    await time.pass(20_000);
    work.resolve("done");
    const settled = held.then(() => queue.hide(aRecord("x"), 5));
    await time.pass(0);
    slow.resolve();
    await settled;

    expect(queue.asked).toEqual(["hide m1 60", "hide m1 60", "hide m1 5"]);
    expect(time.alarms).toBe(0);
  });

  test("is not after the response of the function, even if the work is not done", async () => {
    const { time, queue, heart } = aHeart();

    void whileHeld(aRecord("x"), () => new Promise<never>(() => {}), { ...heart, forMs: 30_000 });
    await time.pass(300_000);

    expect(queue.asked).toEqual(["hide m1 60", "hide m1 60"]);
    expect(time.alarms).toBe(0);
  });
});

function aHeart() {
  const time = new ManualTime();
  const queue = new RecordingQueue();
  const troubles: unknown[] = [];
  const onTrouble = (error: unknown) => void troubles.push(error);
  return { time, queue, troubles, heart: { queue, alarm: time.alarm, forMs: 900_000, onTrouble } };
}
