import { describe, expect, test } from "vitest";
import {
  SimulatedStore,
  type StoreFault,
  type StorePoint,
} from "../../../lib/adapters/simulated/store.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import type { Item, Key, Write } from "../../../lib/ports/store.ts";

const instance = { pk: "t#I#1", sk: "S" };
const row = { pk: "t#G#paid#0.0", sk: "1#w2.1" };
const waits: [Write, Write] = [
  { put: anItem(instance, 2), when: { version: 1 } },
  { put: anItem(row, 1), when: "absent" },
];

describe("a simulated transaction", () => {
  test("shows the new instance without its row while it is half applied", async () => {
    const { store, point, stopAt, faults } = gatedStore();
    await store.commit([{ put: anItem(instance, 1), when: "absent" }]);
    stopAt("commit:half");

    const outcome = store.commit(waits);
    const goOn = await point;

    expect(await versionsIn(store)).toEqual([2, undefined]);
    goOn();
    expect(await outcome).toEqual({ kind: "committed" });
    expect(await versionsIn(store)).toEqual([2, 1]);
    expect(faults).toEqual([]);
  });

  test("shows the row without the new instance when it is applied in reverse", async () => {
    const { store, point, stopAt, faults } = gatedStore();
    await store.commit([{ put: anItem(instance, 1), when: "absent" }]);
    stopAt("commit:half");
    faults.push({ fault: "reversed" });

    const outcome = store.commit(waits);
    const goOn = await point;

    expect(await versionsIn(store)).toEqual([1, 1]);
    goOn();
    expect(await outcome).toEqual({ kind: "committed" });
    expect(await versionsIn(store)).toEqual([2, 1]);
  });

  test("blocks other writers of its items, and lets them continue afterwards", async () => {
    const { store, point, stopAt } = gatedStore();
    await store.commit([{ put: anItem(instance, 1), when: "absent" }]);
    stopAt("commit:half");
    const outcome = store.commit(waits);
    const goOn = await point;

    const early = await store.commit([{ put: anItem(instance, 3), when: { version: 2 } }]);
    goOn();
    await outcome;
    const late = await store.commit([{ put: anItem(instance, 3), when: { version: 2 } }]);

    expect(early).toEqual({ kind: "busy", retryAfterMs: 10 });
    expect(late).toEqual({ kind: "committed" });
  });

  test("is completed although its caller dies between the halves", async () => {
    const store = new SimulatedStore({
      turn: async (point) => {
        if (point === "commit:half") throw new Error("crashed");
        return undefined;
      },
    });
    await store.commit([{ put: anItem(instance, 1), when: "absent" }]);

    await expect(store.commit(waits)).rejects.toThrow("crashed");

    expect(await versionsIn(store)).toEqual([2, 1]);
  });
});

describe("a world", () => {
  const put: [Write] = [{ put: anItem(instance, 1), when: "absent" }];

  test("pauses every call before and after", async () => {
    const points: StorePoint[] = [];
    const store = new SimulatedStore({
      turn: async (point) => {
        points.push(point);
        return undefined;
      },
    });

    await store.get([instance]);
    await store.commit(waits);
    await store.scan("p", { limit: 1 });
    await store.due(instantFrom(0), { index: 0, of: 1 });
    await store.list("v", { limit: 1 });
    await store.tidy([row]);

    expect(points).toEqual(
      ["get", "commit", "scan", "due", "list", "tidy"].flatMap((call) => [
        `${call}:before`,
        `${call}:after`,
      ]),
    );
  });

  test("can refuse a commit as busy, and nothing is written", async () => {
    const { store, faults } = gatedStore();
    faults.push({ fault: "busy", retryAfterMs: 7 });

    expect(await store.commit(put)).toEqual({ kind: "busy", retryAfterMs: 7 });

    expect(await versionsIn(store)).toEqual([undefined, undefined]);
  });

  test.each([true, false])("can leave an outcome unknown, applied: %s", async (applied) => {
    const { store, faults } = gatedStore();
    faults.push({ fault: "unknown", applied });

    expect(await store.commit(put)).toEqual({ kind: "unknown" });

    expect(await versionsIn(store)).toEqual([applied ? 1 : undefined, undefined]);
  });

  test("can apply an unknown commit later, when its condition may fail", async () => {
    const { store, point, stopAt, faults } = gatedStore();
    stopAt("commit:late");
    faults.push({ fault: "unknown", applied: "later" });

    expect(await store.commit(put)).toEqual({ kind: "unknown" });
    const goOn = await point;
    const second = { ...anItem(instance, 5) };
    expect(await store.commit([{ put: second, when: "absent" }])).toEqual({ kind: "committed" });
    goOn();
    await store.close();

    expect(await versionsIn(store)).toEqual([5, undefined]);
  });

  test("can make stale reads and indexes lag, but never a strong read", async () => {
    const { store, faults } = gatedStore();
    await store.commit([
      { put: { ...anItem(instance, 1), lookAt: instantFrom(1) }, when: "absent" },
    ]);
    const due = () => store.due(instantFrom(9), { index: 0, of: 1 });

    faults.push({ fault: "stale" });
    const stale = await store.get([instance], { stale: true });
    faults.push({ fault: "stale" });
    const strong = await store.get([instance]);
    faults.push({ fault: "stale" });
    const lagging = await due();

    expect(stale).toEqual([undefined]);
    expect(strong[0]?.version).toBe(1);
    expect(lagging.items).toEqual([]);
    expect((await due()).items).toEqual([instance]);
  });

  test("can lose a tidy", async () => {
    const { store, faults } = gatedStore();
    await store.commit(put);
    faults.push({ fault: "lost" });

    await store.tidy([instance]);

    expect(await versionsIn(store)).toEqual([1, undefined]);
  });

  test("can let expired items vanish, and no others", async () => {
    const store = new SimulatedStore();
    await store.commit([
      { put: { ...anItem(instance, 1), expiresAt: instantFrom(5) }, when: "absent" },
    ]);
    await store.commit([{ put: { ...anItem(row, 1), expiresAt: instantFrom(6) }, when: "absent" }]);

    expect(store.purgeExpired(instantFrom(5))).toBe(1);

    expect(await versionsIn(store)).toEqual([undefined, 1]);
  });
});

/** A store whose world returns the given faults, and pauses once at the chosen point. */
function gatedStore() {
  const faults: StoreFault[] = [];
  const reached = Promise.withResolvers<() => void>();
  let gate: StorePoint | undefined;
  const store = new SimulatedStore({
    turn: async (point) => {
      if (point === gate) {
        gate = undefined;
        await new Promise<void>((resolve) => reached.resolve(resolve));
      }
      return point.endsWith(":before") ? faults.shift() : undefined;
    },
  });
  return {
    store,
    faults,
    /** Resolves at the chosen point, with a function that continues the call. */
    point: reached.promise,
    stopAt: (point: StorePoint) => {
      gate = point;
    },
  };
}

async function versionsIn(store: SimulatedStore): Promise<readonly (number | undefined)[]> {
  const items = await store.get([instance, row]);
  return items.map((item) => item?.version);
}

function anItem(key: Key, version: number): Item {
  return { key, version, body: new Uint8Array(0) };
}
