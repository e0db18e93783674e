import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import {
  MAX_ROW_IN_FLIGHT_MS,
  MAX_ROWS_IN_CALL,
  MAX_ROWS_PER_SHARD,
  MAX_SHARDS,
  RECEIPT_MS,
  ROWS_PER_PAGE,
} from "../../../lib/definition/limits.ts";
import type { Instant } from "../../../lib/definition/time/instant.ts";
import { allShards, shardsOf } from "../../../lib/engine/rows/topic-head.ts";
import { headKey, shardFor, shardPk, waitSk } from "../../../lib/engine/storage/keys.ts";
import type { Message } from "../../../lib/ports/message.ts";
import type { Item, Store, Write } from "../../../lib/ports/store.ts";
import { aSignal, beside, catching, onSignal, sequence } from "../../support/bpmn-xml.ts";
import { GatedStore, writesInstance } from "../../support/gated-store.ts";
import { aPlainWorld, type PlainWorld } from "../../support/plain-world.ts";

const TENANT = "default";
const topic = { kind: "signal", name: "approved" } as const;
const approval = beside(sequence(catching("wait", onSignal("approved"))), aSignal("approved"));

async function aWaiting(count: number, store: Store = new SimulatedStore({})) {
  const world = aPlainWorld({ store });
  await world.engine.deploy({ notation: "bpmn", source: approval });
  for (let n = 0; n < count; n++) await begin(world, `i${n}`);
  await world.drain();
  return world;
}

const begin = (world: PlainWorld, instanceId: string) =>
  world.engine.start("p", { instanceId, variables: {} });

/** Handles what the bus has delivered so far, and nothing else. */
async function handleBroadcasts({ engine, queued, now }: PlainWorld): Promise<void> {
  const until = (now() + 900_000) as Instant;
  const isBroadcast = ({ kind }: Message) => kind === "broadcast";
  for (const message of queued.filter(isBroadcast)) {
    queued.splice(queued.indexOf(message), 1);
    await engine.handle(message, { id: "bus", until, mayContinue: false });
  }
}

const statusOf = async ({ engine }: PlainWorld, id: string) => (await engine.get(id)).status;

describe("a wait that opens during a broadcast", () => {
  test("F39 after it was accepted waits for the next, although pages are still to come", async () => {
    const world = await aWaiting(MAX_ROWS_IN_CALL + 1);
    const { broadcastId } = await world.engine.signal({ name: "approved" });
    await begin(world, "late");
    await world.drain();

    expect(await statusOf(world, "late")).toBe("suspended");
    expect(await world.engine.receipt(broadcastId)).toMatchObject({
      complete: true,
      matched: MAX_ROWS_IN_CALL + 1,
      delivered: MAX_ROWS_IN_CALL + 1,
    });
    await world.engine.signal({ name: "approved" });
    await world.drain();
    expect(await statusOf(world, "late")).toBe("succeeded");
  });

  test("F39 between its read of the head and its commit is reached, by its second read", async () => {
    const gated = new GatedStore();
    const world = await aWaiting(0, gated.store);
    let answer: unknown;
    gated.before(writesInstance("a"), async () => {
      answer = await world.engine.signal({ name: "approved" });
      await handleBroadcasts(world); // its pages are done before the row is written
    });

    await begin(world, "a");
    await world.drain();

    // No wait was open while it was delivered, but this one was being opened.
    expect(answer).toMatchObject({ deliveredCount: 0 });
    expect(await statusOf(world, "a")).toBe("succeeded");
  });
});

describe("a broadcast", () => {
  test("F33 to as many waits as a call delivers to returns the counts; to one more it does not", async () => {
    const world = await aWaiting(MAX_ROWS_IN_CALL);
    const whole = await world.engine.signal({ name: "approved" });
    await world.drain();
    for (let n = 0; n <= MAX_ROWS_IN_CALL; n++) await begin(world, `j${n}`);
    await world.drain();
    const more = await world.engine.signal({ name: "approved", id: "more" });
    await world.drain();

    expect(whole).toMatchObject({ deliveredCount: MAX_ROWS_IN_CALL });
    expect(more).toEqual({ broadcastId: "more" });
    expect(await world.engine.receipt("more")).toMatchObject({
      complete: true,
      delivered: MAX_ROWS_IN_CALL + 1,
    });
  });

  test.each([
    [ROWS_PER_PAGE, "on one page", 0],
    [ROWS_PER_PAGE + 1, "on pages", 1],
  ])("to %d is delivered %s", async (count, _, shards) => {
    const world = await aWaiting(count);
    await world.engine.signal({ name: "approved", id: "b" });
    await handleBroadcasts(world);

    expect(world.queued.filter(({ kind }) => kind === "shard")).toHaveLength(shards);
    await world.drain();
    expect(await world.engine.receipt("b")).toMatchObject({ complete: true, delivered: count });
  });

  test("that comes twice over the bus is delivered once, and counted once", async () => {
    const world = await aWaiting(3);
    await world.engine.signal({ name: "approved", id: "b" });
    const copies = world.queued.filter(({ kind }) => kind === "broadcast");
    world.queued.push(...copies, ...copies);
    await world.drain();
    expect(await world.engine.receipt("b")).toMatchObject({ complete: true, delivered: 3 });
    for (let n = 0; n < 3; n++) {
      const { items } = await world.engine.history(`i${n}`, { limit: 100 });
      expect(items.filter(({ type }) => type === "signal-received")).toHaveLength(1);
    }
  });

  test("F33 that comes twice counts a wait that was set aside, although the second copy finds it closed", async () => {
    const gated = new GatedStore();
    const world = await aWaiting(2, gated.store);
    gated.kill((keys) => keys.some(({ sk }) => sk === "S")); // the call itself delivers nothing
    await world.engine.signal({ name: "approved", id: "b" });
    const copies = world.queued.filter(({ kind }) => kind === "broadcast");
    await handleBroadcasts(world);
    gated.kill(writesInstance("i0")); // the page delivers to i1 and sets i0 aside
    gated.before(
      (keys) => keys.some(({ sk }) => sk === "P#all"),
      async () => {
        gated.kill();
        await world.drain();
        world.queued.push(...copies);
        await world.drain();
      },
    );

    await world.drain();

    expect(await world.engine.receipt("b")).toMatchObject({
      complete: true,
      matched: 2,
      delivered: 2,
    });
  });

  test("keeps its receipt for fifteen days, and its id as long", async () => {
    const world = await aWaiting(0);
    const send = () => world.engine.signal({ name: "approved", payload: { n: 1 }, id: "b" });
    await send();
    await world.drain();
    world.moveTo(world.now() + RECEIPT_MS - 1);
    expect(await world.engine.receipt("b")).toMatchObject({ complete: true });
    world.moveTo(world.now() + 1);
    await expect(world.engine.receipt("b")).rejects.toMatchObject({ code: "broadcast/not-found" });
  });
});

describe("the rows of a signal", () => {
  /** Rows without an instance, so old that none will come: they are read, and tidied. */
  async function putRows(store: Store, count: number, epoch: number, at: Instant): Promise<void> {
    const ids = Array.from({ length: count }, (_, n) => `gone-${String(n).padStart(5, "0")}`);
    const rows = ids.map((id): Write => ({ put: rowOf(id, epoch, 0, at), when: "absent" }));
    for (let from = 0; from < rows.length; from += 90) {
      const [first, ...others] = rows.slice(from, from + 90);
      if (first) await store.commit([first, ...others]);
    }
  }

  const rowOf = (id: string, epoch: number, shard: number, at: Instant): Item => ({
    key: { pk: shardPk(TENANT, topic, epoch, shard), sk: waitSk(at, id, "w1.1") },
    version: 1,
    body: new TextEncoder().encode(JSON.stringify({ i: id, w: "w1.1", s: 0, a: at, v: 1 })),
  });

  const epochsOf = async (store: Store): Promise<number> => {
    const [head] = await store.get([headKey(TENANT, topic)]);
    return JSON.parse(new TextDecoder().decode(head?.body)).epochs;
  };

  const rowsOf = (store: SimulatedStore) =>
    store.items().filter(({ key: { pk } }) => pk.includes("#G#") && pk.split("#").length === 4);

  test.each([
    [MAX_ROWS_PER_SHARD, "stay in one shard", 1],
    [MAX_ROWS_PER_SHARD + 1, "make place for more", 2],
  ])(
    "that are %d %s; new ones go to the newest epoch, and all are reached",
    async (count, _, epochs) => {
      const store = new SimulatedStore({});
      const world = await aWaiting(1, store);
      const old = (world.now() - MAX_ROW_IN_FLIGHT_MS - 1) as Instant;
      await putRows(store, count - 1, 1, old);

      await world.engine.signal({ name: "approved", id: "first" });
      await world.drain();

      expect(await epochsOf(store)).toBe(epochs);
      expect(await statusOf(world, "i0")).toBe("succeeded");
      expect(await world.engine.receipt("first")).toMatchObject({
        complete: true,
        matched: count,
        delivered: 1,
        skipped: count - 1,
      });
      expect(rowsOf(store)).toEqual([]);
      await begin(world, "next");
      await world.drain();
      expect(rowsOf(store).map(({ key }) => key.pk)).toEqual([
        shardPk(TENANT, topic, epochs, shardFor("next", shardsOf(epochs))),
      ]);
      await world.engine.signal({ name: "approved" });
      await world.drain();
      expect(await statusOf(world, "next")).toBe("succeeded");
    },
  );

  test("are spread over no more shards than the limit", async () => {
    const store = new SimulatedStore({});
    const world = await aWaiting(1, store);
    const most = Math.log2(MAX_SHARDS) + 1;
    const [head] = await store.get([headKey(TENANT, topic)]);
    if (head === undefined) throw new Error("no head");
    const body = new TextEncoder().encode(JSON.stringify({ seq: 0, epochs: most }));
    await store.commit([
      { put: { ...head, version: head.version + 1, body }, when: { version: head.version } },
    ]);
    const old = (world.now() - MAX_ROW_IN_FLIGHT_MS - 1) as Instant;
    await putRows(store, MAX_ROWS_PER_SHARD + 1, most, old);

    await world.engine.signal({ name: "approved" });
    await world.drain();

    expect(allShards({ seq: 0, epochs: most }).filter(([epoch]) => epoch === most)).toHaveLength(
      MAX_SHARDS,
    );
    expect(await epochsOf(store)).toBe(most);
    // The wait of the first epoch is also reached.
    expect(await statusOf(world, "i0")).toBe("succeeded");
  });

  test.each([
    ["stays while its instance may still be written", 0, 1],
    ["goes when that would have to be an hour old", 1, 0],
  ])("without an instance: a row %s", async (_, more, left) => {
    const store = new SimulatedStore({});
    const world = await aWaiting(0, store);
    const at = (world.now() - MAX_ROW_IN_FLIGHT_MS - more) as Instant;
    await store.commit([{ put: rowOf("unborn", 1, 0, at), when: "absent" }]);
    await world.engine.signal({ name: "approved" });
    await world.drain();
    expect(rowsOf(store)).toHaveLength(left);
  });
});
