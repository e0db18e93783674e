import { describe, expect, test } from "vitest";
import { openLocalStore } from "../../lib/adapters/local/store.ts";
import { MAX_PURGED_AT_ONCE } from "../../lib/definition/limits.ts";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import { purgeRegularly } from "../../lib/embedded/retention.ts";
import { instancePk } from "../../lib/engine/storage/keys.ts";
import { sequence, service } from "../support/bpmn-xml.ts";
import { aDataDir, anEngine } from "../support/embedded.ts";

const source = sequence(service("work"));

/** What the folder contains of an instance, while the engine is closed. */
async function storedOf(dataDir: string, instanceId: string): Promise<readonly string[]> {
  const store = openLocalStore({ folder: dataDir });
  const { items } = await store.scan(instancePk("default", instanceId), { limit: 100 });
  await store.close();
  return items.map(({ key }) => key.sk);
}

/** Runs an instance to its end, lets time pass, and opens the folder once more. */
async function reopenedAfter(by: string, options: { retention?: string } = {}) {
  const dataDir = aDataDir();
  const engine = await anEngine({ dataDir, source, tasks: { work: async () => ({}) }, ...options });
  await engine.start("p", { instanceId: "one" });
  await engine.result("one");
  await engine.advanceClock(by);
  const stored = async () => {
    await engine.close();
    const again = await anEngine({ dataDir });
    await again.close();
    return storedOf(dataDir, "one");
  };
  return { engine, stored };
}

describe("an ended instance", () => {
  test("is kept and readable until 30 days after its end", async () => {
    const { engine, stored } = await reopenedAfter("PT719H59M59S");

    expect(await engine.get("one")).toMatchObject({ status: "succeeded" });
    expect(await stored()).not.toEqual([]);
  });

  test("is not found afterwards, and is removed when the folder is opened", async () => {
    const { engine, stored } = await reopenedAfter("P30D");

    await expect(engine.get("one")).rejects.toMatchObject({ code: "instance/not-found" });
    expect((await engine.list()).items).toEqual([]);
    expect(await stored()).toEqual([]);
  });

  test("is kept for the configured retention", async () => {
    const { engine, stored } = await reopenedAfter("P15D", { retention: "P15D" });

    await expect(engine.get("one")).rejects.toMatchObject({ code: "instance/not-found" });
    expect(await stored()).toEqual([]);
  });
});

describe("a retention", () => {
  test.each([
    ["P14DT23H59M59.999S", "too short"],
    ["-P30D", "too short"],
    ["a month", "not a duration"],
  ])("of %s is refused", async (retention, why) => {
    const opened = anEngine({ retention });

    await expect(opened).rejects.toMatchObject({
      code: "engine/misconfigured",
      message: expect.stringContaining(why),
    });
  });

  test("that is refused releases the folder", async () => {
    const dataDir = aDataDir();

    await expect(anEngine({ dataDir, retention: "P1D" })).rejects.toThrow("P15D at least");

    await expect(anEngine({ dataDir, retention: "P1M" })).resolves.toBeDefined();
  });
});

describe("regular purging", () => {
  /** A store with this many expired items, and an alarm that the test rings. */
  function aBacklog(expired: number) {
    const asked: { now: number; limit: number }[] = [];
    const alarms: { afterMs: number; ring: () => void; isOff: boolean }[] = [];
    const troubles: string[] = [];
    let left = expired;
    let broken = false;
    const stop = purgeRegularly({
      store: {
        purgeExpired: (now, limit) => {
          if (broken) throw new Error("The disk is full.");
          asked.push({ now, limit });
          const removed = Math.min(left, limit);
          left -= removed;
          return removed;
        },
      },
      clock: { now: () => instantFrom(42) },
      onTrouble: (message) => troubles.push(message),
      alarm: (afterMs, ring) => {
        const alarm = { afterMs, ring, isOff: false };
        alarms.push(alarm);
        return () => {
          alarm.isOff = true;
        };
      },
    });
    const setBroken = (value: boolean) => {
      broken = value;
    };
    return { asked, alarms, troubles, stop, setBroken, left: () => left };
  }

  test("removes a backlog in slices with pauses between, then runs every hour", () => {
    const { asked, alarms, left } = aBacklog(MAX_PURGED_AT_ONCE + 1);

    expect(left()).toBe(1);
    expect(asked).toEqual([{ now: 42, limit: MAX_PURGED_AT_ONCE }]);
    expect(alarms[0]?.afterMs).toBeLessThan(1_000);

    alarms[0]?.ring();

    expect(left()).toBe(0);
    expect(alarms.map(({ afterMs }) => afterMs)).toEqual([alarms[0]?.afterMs, 3_600_000]);
  });

  test("reports a store that fails, and retries in an hour", () => {
    const { alarms, troubles, setBroken, asked } = aBacklog(0);
    setBroken(true);

    alarms[0]?.ring();

    expect(troubles).toEqual([expect.stringContaining("The disk is full.")]);
    setBroken(false);
    alarms[1]?.ring();
    expect(asked).toHaveLength(2);
  });

  test("ends when it is stopped", () => {
    const { alarms, stop } = aBacklog(0);
    alarms[0]?.ring();

    stop();

    expect(alarms.at(-1)?.isOff).toBe(true);
  });
});
