import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { removeKeyRows } from "../../../lib/engine/rows/key-rows.ts";
import { removeLeft } from "../../../lib/engine/rows/left.ts";
import { instancePk } from "../../../lib/engine/storage/keys.ts";
import type { World } from "../../../lib/engine/world.ts";
import type { Outcome } from "../../../lib/ports/store.ts";

const instance = {
  tenant: "default",
  id: "i",
  startedAt: instantFrom(0),
  businessKey: "b",
  tags: ["t"],
};
const body = new Uint8Array();

/** A store in which `left` items were moved out of the instance, with its key rows. */
async function aWorld(left: number) {
  const store = new SimulatedStore({});
  const pauses: number[] = [];
  const world = {
    store,
    settings: { tenant: "default" },
    clock: { now: () => instantFrom(1), pause: async (ms: number) => void pauses.push(ms) },
  } as unknown as World;
  const keys = [
    ...Array.from({ length: left }, (_, n) => ({
      pk: instancePk("default", "i"),
      sk: `U#f1.1/${n}/1`,
    })),
    { pk: "default#K#bk#b", sk: "000000000000000#i" },
    { pk: "default#K#tag#t", sk: "000000000000000#i" },
  ];
  for (const key of keys) await store.commit([{ put: { key, version: 1, body }, when: "absent" }]);
  return { world, store, pauses };
}

const remove = async (world: World) => {
  await removeLeft(world, "i");
  await removeKeyRows(world, instance);
};

describe("removing what belongs to an instance", () => {
  test("removes everything, however many pages it has", async () => {
    const { world, store } = await aWorld(250);

    await remove(world);

    expect(store.items()).toEqual([]);
  });

  test("succeeds although the store is busy for some time", async () => {
    const { world, store, pauses } = await aWorld(2);
    const commit = store.commit.bind(store);
    let calls = 0;
    store.commit = async (writes) =>
      calls++ % 3 < 2 ? { kind: "busy", retryAfterMs: 50 } : commit(writes);

    await remove(world);

    expect(store.items()).toEqual([]);
    expect(pauses.filter((ms) => ms === 50)).toHaveLength(8);
  });

  const BUSY: Outcome = { kind: "busy", retryAfterMs: 50 };

  test.each([
    ["is busy", BUSY],
    ["never answers", { kind: "unknown" } as Outcome],
    ["removes nothing", { kind: "committed" } as Outcome],
  ])("ends in an error if the store %s for ever", async (_, outcome) => {
    const { world, store } = await aWorld(1);
    store.commit = async () => outcome;

    const left = removeLeft(world, "i");

    await expect(left).rejects.toMatchObject({ code: "engine/busy", retryable: true });
  });

  test.each([
    ["is busy", BUSY],
    ["never answers", { kind: "unknown" } as Outcome],
  ])("ends in an error for key and tag rows, too, if the store %s for ever", async (_, outcome) => {
    const { world, store } = await aWorld(0);
    store.commit = async () => outcome;

    const rows = removeKeyRows(world, instance);

    await expect(rows).rejects.toMatchObject({ code: "engine/busy", retryable: true });
  });
});
