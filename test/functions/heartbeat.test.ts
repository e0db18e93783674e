import { describe, expect, test } from "vitest";
import { whileHeld } from "../../functions/middleware/heartbeat.ts";
import { ManualTime } from "../support/manual-time.ts";
import { aRecord, RecordingQueue } from "../support/queue-events.ts";

describe("a message that is worked on for long", () => {
  test("is held anew every 20 seconds until the work is over", async () => {
    const { time, queue, heart } = aHeart();
    const work = Promise.withResolvers<string>();

    const held = whileHeld(aRecord("x"), () => work.promise, heart);
    await time.pass(50_000);
    work.resolve("done");

    expect(await held).toBe("done");
    await time.pass(100_000);
    expect(queue.asked).toEqual(["hide m1 60", "hide m1 60", "hide m1 60"]);
  });

  test("is held no longer when the work fails", async () => {
    const { time, heart } = aHeart();

    await expect(
      whileHeld(aRecord("x"), () => Promise.reject(new Error("broken")), heart),
    ).rejects.toThrow("broken");

    expect(time.alarms).toBe(0);
  });

  test("goes on when it could not be held once", async () => {
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

function aHeart() {
  const time = new ManualTime();
  const queue = new RecordingQueue();
  const troubles: unknown[] = [];
  const onTrouble = (error: unknown) => void troubles.push(error);
  return { time, queue, troubles, heart: { queue, alarm: time.alarm, onTrouble } };
}
