import { describe, expect, test } from "vitest";
import { MAX_LOOKED_AT } from "../../../lib/definition/limits.ts";
import {
  aMessage,
  beside,
  end,
  file,
  flow,
  onMessage,
  process,
  service,
  start,
} from "../../support/bpmn-xml.ts";
import { GatedStore } from "../../support/gated-store.ts";
import { aPlainWorld } from "../../support/plain-world.ts";
import {
  aTimerWorld,
  EVERYTHING,
  MINUTE,
  multiply,
  pass,
  spoil,
  takeArmed,
} from "../../support/waiting-timers.ts";

const UNKNOWN = { code: "engine/outcome-unknown" };

describe("a sweep", () => {
  test("D19 F19 sends the timer that no queue delivered, and takes no step itself", async () => {
    const world = aTimerWorld();
    await world.wait("PT10S", "one");
    const dueAt = world.now() + 10_000;
    const before = world.commits.length;

    pass(world, 10_000 + MINUTE);
    const report = await world.engine.sweep(EVERYTHING);

    expect(report).toEqual({ looked: 1, sent: 1, troubles: 0, more: false });
    expect(world.armed).toMatchObject([{ instanceId: "one", ticket: "t1.1", dueAt }]);
    expect(world.commits).toHaveLength(before);
  });

  test("skips what is due, but may still be in a queue", async () => {
    const world = aTimerWorld();
    await world.wait("PT10S", "one");

    pass(world, 10_000 + MINUTE - 1);
    const report = await world.engine.sweep(EVERYTHING);

    expect(report).toMatchObject({ sent: 0 });
    pass(world, 1);
    expect(await world.engine.sweep(EVERYTHING)).toMatchObject({ sent: 1 });
  });

  test("sends every due timer of an instance: only the first had been armed", async () => {
    const world = aTimerWorld();
    await world.wait("PT10S", "one");
    await world.engine.start("waits-pt10s", { instanceId: "two", deadline: "PT11S" });
    await world.drain();
    world.armed.length = 0;

    pass(world, 11_000 + MINUTE);
    await world.engine.sweep(EVERYTHING);

    expect(takeArmed(world)).toEqual(["one", "two", "two"]);
  });

  test("does not send a backlog again each minute, but after ten", async () => {
    const world = aTimerWorld();
    await world.wait("PT10S", "one", "two");
    pass(world, 10_000 + MINUTE);

    const sent: number[] = [];
    for (let minute = 0; minute <= 10; minute++) {
      sent.push((await world.engine.sweep(EVERYTHING)).sent);
      pass(world, MINUTE);
    }

    expect(sent).toEqual([2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
  });

  test("sends what became overdue meanwhile, also in a minute that was already read", async () => {
    const world = aTimerWorld();
    await world.wait("PT10S", "one");
    await world.wait("PT12S", "two");
    await world.wait("PT2M", "three");
    pass(world, 11_000 + MINUTE);

    await world.engine.sweep(EVERYTHING);
    expect(takeArmed(world)).toEqual(["one"]);
    pass(world, 5_000);
    await world.engine.sweep(EVERYTHING);
    expect(takeArmed(world)).toEqual(["two"]);
    pass(world, 2 * MINUTE);
    await world.engine.sweep(EVERYTHING);
    expect(takeArmed(world)).toEqual(["three"]);
  });

  test(`stops after ${MAX_LOOKED_AT} and continues there, oldest first`, {
    timeout: 60_000,
  }, async () => {
    const world = aTimerWorld();
    await world.wait("PT10S", "old");
    await world.wait("PT20S", "young");
    await multiply(world.store, "old", MAX_LOOKED_AT);
    pass(world, 20_000 + MINUTE);

    const first = await world.engine.sweep(EVERYTHING);
    const isOld = takeArmed(world).every((id) => id.startsWith("old"));
    pass(world, MINUTE);
    const second = await world.engine.sweep(EVERYTHING);

    expect(first).toEqual({ looked: MAX_LOOKED_AT, sent: MAX_LOOKED_AT, troubles: 0, more: true });
    expect(isOld).toBe(true);
    expect(second).toMatchObject({ sent: 1, more: false });
    expect(takeArmed(world)).toEqual(["young"]);
  });

  test("that runs out of time stops after a page, and does not send the page again", async () => {
    const world = aTimerWorld();
    await world.wait("PT10S", "one");
    await multiply(world.store, "one", 250);
    pass(world, 10_000 + MINUTE);

    const looked: number[] = [];
    const hasTime = () => looked.push(world.armed.length) < 2;
    const first = await world.engine.sweep(EVERYTHING, { hasTime });
    pass(world, MINUTE);
    const second = await world.engine.sweep(EVERYTHING);

    expect(looked).toEqual([100, 200]);
    expect(first).toEqual({ looked: 200, sent: 200, troubles: 0, more: true });
    expect(second).toMatchObject({ sent: 50, more: false });
    expect(new Set(takeArmed(world)).size).toBe(250);
  });

  test("reports an item that cannot be read, and continues with the others", async () => {
    const world = aTimerWorld();
    await world.wait("PT10S", "one", "two");
    await spoil(world.store, "one");
    pass(world, 10_000 + MINUTE);

    const report = await world.engine.sweep(EVERYTHING);

    expect(report).toEqual({ looked: 2, sent: 1, troubles: 1, more: false });
    expect(takeArmed(world)).toEqual(["two"]);
    expect(world.troubles).toEqual(["default#I#one / S cannot be read and is left out"]);
  });

  test("retries in a minute when nothing could be sent", async () => {
    let isDown = true;
    const world = aTimerWorld({ refuses: () => isDown });
    isDown = false;
    await world.wait("PT10S", "one");
    pass(world, 10_000 + MINUTE);

    isDown = true;
    const down = await world.engine.sweep(EVERYTHING);
    isDown = false;
    pass(world, MINUTE);
    const up = await world.engine.sweep(EVERYTHING);

    expect(down).toMatchObject({ sent: 0, troubles: 1 });
    expect(up).toMatchObject({ sent: 1, troubles: 0 });
  });

  test("concurrent with another sends everything at most twice", async () => {
    const world = aTimerWorld();
    await world.wait("PT10S", "one", "two", "three");
    pass(world, 10_000 + MINUTE);

    await Promise.all([world.engine.sweep(EVERYTHING), world.engine.sweep(EVERYTHING)]);
    const sent = takeArmed(world);
    pass(world, MINUTE);
    await world.engine.sweep(EVERYTHING);

    expect(new Set(sent)).toEqual(new Set(["one", "two", "three"]));
    expect(sent.length).toBeLessThanOrEqual(6);
    expect(takeArmed(world)).toEqual([]);
  });

  test("of one slice leaves the others to their own sweeps", async () => {
    const world = aTimerWorld();
    const ids = ["a", "b", "c", "d", "e", "f", "g", "h"];
    await world.wait("PT10S", ...ids);
    pass(world, 10_000 + MINUTE);

    const parts: (readonly string[])[] = [];
    for (let index = 0; index < 4; index++) {
      await world.engine.sweep({ index, of: 4 });
      parts.push(takeArmed(world));
    }

    expect(parts.flat().toSorted()).toEqual(ids);
    expect(parts.filter((part) => part.length > 0).length).toBeGreaterThan(1);
  });

  test("publishes a broadcast that the bus had refused", async () => {
    let isDown = true;
    const published: string[] = [];
    const world = aTimerWorld({
      bus: {
        publish: async ({ broadcastId }) => {
          if (!isDown) published.push(broadcastId);
          return !isDown;
        },
      },
    });
    await world.engine.signal({ name: "go", id: "s1" });

    isDown = false;
    pass(world, 2 * MINUTE);
    const report = await world.engine.sweep(EVERYTHING);

    expect(report).toMatchObject({ sent: 1 });
    expect(published).toEqual(["s1"]);
  });
});

describe("a sweep that finds a kept message without a recipient", () => {
  /** Starts by an order, then works; with this id. */
  const begunByOrder = (id: string) =>
    beside(
      file(
        process(
          start("start", onMessage("order")),
          service("work"),
          end(),
          flow("f1", "start", "work"),
          flow("f2", "work", "end"),
        ).replace('id="p"', `id="${id}"`),
      ),
      aMessage("order"),
    );

  async function anOrphan() {
    const gated = new GatedStore();
    const world = aPlainWorld({ store: gated.store, tasks: { work: () => ({}) } });
    await world.engine.deploy({ notation: "bpmn", source: begunByOrder("p") });
    await world.engine.deploy({ notation: "bpmn", source: begunByOrder("q") });
    // Kept for both of them, and its caller dies before the first one starts.
    gated.kill((keys) => keys.some(({ sk }) => sk === "S"));
    await expect(world.engine.message({ name: "order" })).rejects.toMatchObject(UNKNOWN);
    gated.kill();
    world.queued.length = 0;
    pass(world, 2 * MINUTE);
    return world;
  }

  test("wakes its mailbox through the queue, and starts no instance itself", async () => {
    const world = await anOrphan();

    const report = await world.engine.sweep(EVERYTHING);

    expect(report).toMatchObject({ sent: 1, troubles: 0 });
    expect(world.queued).toEqual([{ kind: "poke", tenant: "default", name: "order", key: "" }]);
    expect(world.commits).toEqual([]);
  });

  test("lets it start the instances that it was kept for", async () => {
    const world = await anOrphan();

    await world.engine.sweep(EVERYTHING);
    await world.drain();

    const ended = world.commits.filter(({ status }) => status === "succeeded");
    expect(ended.map(({ definition }) => definition.id).toSorted()).toEqual(["p", "q"]);
    pass(world, 20 * MINUTE);
    expect(await world.engine.sweep(EVERYTHING)).toMatchObject({ sent: 0 });
  });
});

describe("a timer that could not be armed", () => {
  test("fails no call, and is fired by the sweep", async () => {
    let isDown = false;
    const world = aTimerWorld({ refuses: () => isDown });
    await world.wait("PT10S", "one");

    isDown = true;
    await world.engine.start("waits-pt10s", { instanceId: "two" });
    isDown = false;
    pass(world, 10_000 + MINUTE);
    await world.engine.sweep(EVERYTHING);

    expect(world.troubles).toEqual(["timer t1.1 of instance two was not armed"]);
    expect(takeArmed(world)).toEqual(["one", "two"]);
  });
});
