import { describe, expect, test } from "vitest";
import { MAX_LOOKED_AT } from "../../../lib/definition/limits.ts";
import {
  aTimerWorld,
  EVERYTHING,
  MINUTE,
  multiply,
  pass,
  spoil,
  type TimerWorld,
  takeArmed,
} from "../../support/waiting-timers.ts";

/** Turns each minute, `times` times, and returns what each turn has queued. */
async function turns(world: TimerWorld, times: number): Promise<readonly (readonly string[])[]> {
  const queued: (readonly string[])[] = [];
  for (let turn = 0; turn < times; turn++) {
    await world.engine.turnWheel(EVERYTHING);
    queued.push(takeArmed(world));
    pass(world, MINUTE);
  }
  return queued;
}

describe("the wheel", () => {
  test("J17 queues a timer once, minutes before it is due, for its exact instant", async () => {
    const world = aTimerWorld();
    await world.wait("PT30M", "one");
    const dueAt = world.now() + 30 * MINUTE;

    const before = await turns(world, 26);
    await world.engine.turnWheel(EVERYTHING);
    const [timer] = world.armed;
    const after = [takeArmed(world), ...(await turns(world, 10))];

    expect(before.flat()).toEqual([]);
    expect(after.flat()).toEqual(["one"]);
    expect(timer).toMatchObject({ instanceId: "one", ticket: "t1.1", dueAt });
  });

  test("continues after an outage with the minute that it had reached", async () => {
    const world = aTimerWorld();
    await world.wait("PT20M", "one");
    await world.wait("PT40M", "two");
    await world.wait("PT90M", "three");
    await turns(world, 2);

    pass(world, 60 * MINUTE);
    const { queued } = await world.engine.turnWheel(EVERYTHING);

    expect(queued).toBe(2);
    expect(takeArmed(world)).toEqual(["one", "two"]);
    expect((await turns(world, 60)).flat()).toEqual(["three"]);
  });

  test("beside another one, or turned twice in a minute, skips no timer", async () => {
    const world = aTimerWorld();
    await world.wait("PT30M", "one", "two");
    pass(world, 26 * MINUTE);

    await Promise.all([world.engine.turnWheel(EVERYTHING), world.engine.turnWheel(EVERYTHING)]);
    const queued = takeArmed(world);
    const again = await world.engine.turnWheel(EVERYTHING);

    expect(new Set(queued)).toEqual(new Set(["one", "two"]));
    expect(again).toEqual({ looked: 0, queued: 0, troubles: 0, more: false });
  });

  test(`stops after ${MAX_LOOKED_AT} and continues there`, { timeout: 60_000 }, async () => {
    const world = aTimerWorld();
    await world.wait("PT30M", "one");
    await multiply(world.store, "one", MAX_LOOKED_AT + 2);
    pass(world, 26 * MINUTE);

    const first = await world.engine.turnWheel(EVERYTHING);
    pass(world, MINUTE);
    const second = await world.engine.turnWheel(EVERYTHING);

    expect(first).toMatchObject({ queued: MAX_LOOKED_AT, more: true });
    expect(second).toMatchObject({ queued: 2, more: false });
    expect(new Set(takeArmed(world)).size).toBe(MAX_LOOKED_AT + 2);
  });

  test("that runs out of time stops after a page, and does not queue the page again", async () => {
    const world = aTimerWorld();
    await world.wait("PT30M", "one");
    await multiply(world.store, "one", 120);
    pass(world, 26 * MINUTE);

    const first = await world.engine.turnWheel(EVERYTHING, { hasTime: () => false });
    const second = await world.engine.turnWheel(EVERYTHING);

    expect(first).toMatchObject({ queued: 100, more: true });
    expect(second).toMatchObject({ queued: 20, more: false });
    expect(new Set(takeArmed(world)).size).toBe(120);
  });

  test("stays before what could not be queued, and skips what cannot be read", async () => {
    let isDown = false;
    const world = aTimerWorld({ refuses: () => isDown });
    await world.wait("PT30M", "one", "two");
    await spoil(world.store, "one");
    pass(world, 26 * MINUTE);

    isDown = true;
    const down = await world.engine.turnWheel(EVERYTHING);
    isDown = false;
    pass(world, MINUTE);
    const up = await world.engine.turnWheel(EVERYTHING);

    expect(down).toMatchObject({ queued: 0, troubles: 2 });
    expect(up).toMatchObject({ queued: 1, troubles: 1 });
    expect(takeArmed(world)).toEqual(["two"]);
  });

  test("skips an instance that has ended meanwhile", async () => {
    const world = aTimerWorld();
    await world.wait("PT30M", "one", "two");
    await world.engine.cancel("one");
    await world.drain();
    pass(world, 26 * MINUTE);

    await world.engine.turnWheel(EVERYTHING);

    expect(takeArmed(world)).toEqual(["two"]);
  });
});
