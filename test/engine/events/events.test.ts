import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { MAX_KEPT_EVENTS, MAX_ROWS_IN_CALL } from "../../../lib/definition/limits.ts";
import { type Instant, instantFrom } from "../../../lib/definition/time/instant.ts";
import { headKey, keptEventKey } from "../../../lib/engine/storage/keys.ts";
import type { Item, Key, Store, Write } from "../../../lib/ports/store.ts";
import { workflows } from "../../support/event-workflows.ts";
import { GatedStore, writesInstance } from "../../support/gated-store.ts";
import { aPlainWorld, type PlainWorld } from "../../support/plain-world.ts";

const UNKNOWN = { code: "engine/outcome-unknown" };

const TENANT = "default";
const topic = { kind: "event", name: "paid" } as const;
const DAY = 86_400_000;

async function aWorld(store: Store) {
  const world = aPlainWorld({ store, workflows: new Map(Object.entries(workflows)) });
  for (const source of Object.keys(workflows)) {
    await world.engine.deploy({ notation: "code", source });
  }
  return world;
}

const declare = (
  { engine }: PlainWorld,
  consumeOnRead: boolean,
  deliveryMode: "AfterWait" | "All",
) =>
  engine.setEventType("paid", {
    consumeOnRead,
    deliveryMode,
    expireAfter: "P1D",
    onTargetTerminated: "discard",
  });

const begin = ({ engine }: PlainWorld, instanceId: string, definition = "waits") =>
  engine.start(definition, { instanceId });

const statusOf = async ({ engine }: PlainWorld, id: string) => (await engine.get(id)).status;

/** Writes a kept event. */
const keeps = (keys: readonly Key[]) => keys.some(({ sk }) => sk.startsWith("E#"));

describe.each([true, false])("an event that is kept, with consumeOnRead %s,", (consumeOnRead) => {
  test("D6 D10 is found by a wait that opens directly before it is accepted", async () => {
    const gated = new GatedStore();
    const world = await aWorld(gated.store);
    await declare(world, consumeOnRead, "All");
    gated.before(keeps, () => begin(world, "one"));

    await world.engine.event({ name: "paid", payload: 1 });
    await world.drain();

    expect(await world.engine.get("one")).toMatchObject({ status: "succeeded", result: 1 });
  });

  test("D6 D10 is found by a wait that is committed directly after it was accepted", async () => {
    const gated = new GatedStore();
    const world = await aWorld(gated.store);
    await declare(world, consumeOnRead, "All");
    gated.before(writesInstance("one"), () => world.engine.event({ name: "paid", payload: 1 }));

    await begin(world, "one");
    await world.drain();

    expect(await world.engine.get("one")).toMatchObject({ status: "succeeded", result: 1 });
  });
});

describe("an event for one recipient", () => {
  test("D10 goes to one of two waits that take it at the same moment", async () => {
    const gated = new GatedStore();
    const world = await aWorld(gated.store);
    await declare(world, true, "All");
    await world.engine.event({ name: "paid", payload: 1, id: "e-1" });
    await world.drain();
    gated.before(writesInstance("one"), () => begin(world, "two"));

    await begin(world, "one");
    await world.drain();

    const ended = [await statusOf(world, "one"), await statusOf(world, "two")];
    expect(ended.sort()).toEqual(["succeeded", "suspended"]);
  });

  test.each([
    ["AfterWait", "dropped"],
    ["All", "queued"],
  ] as const)(
    "D10 whose caller died is offered by a recovery; %s and no wait: %s",
    async (mode, outcome) => {
      const gated = new GatedStore();
      const world = await aWorld(gated.store);
      await declare(world, true, mode);
      await begin(world, "one");
      await world.drain();
      gated.kill(writesInstance("one"));
      const event = { name: "paid", payload: 1, id: "e-1" };
      await expect(world.engine.event(event)).rejects.toMatchObject(UNKNOWN);
      world.queued.length = 0;
      gated.kill();

      const report = await world.engine.recover();
      await world.drain();

      expect(report).toMatchObject({ eventsOffered: 1 });
      expect(await world.engine.get("one")).toMatchObject({ status: "succeeded", result: 1 });
      expect(await world.engine.event(event)).toMatchObject({ outcome: "delivered" });
      expect(await world.engine.recover()).toMatchObject({ eventsOffered: 0 });
      expect(await world.engine.event({ name: "paid" })).toMatchObject({ outcome });
    },
  );

  test("D10 is dropped for its caller too when the queue's copy was faster", async () => {
    const gated = new GatedStore();
    const world = await aWorld(gated.store);
    await declare(world, true, "AfterWait");
    // The call is about to drop it; the copy has already done so.
    const isDrop = (keys: readonly Key[]) => keeps(keys) && !keys.some(({ sk }) => sk === "H");
    gated.before(isDrop, () => world.drain());

    const answer = await world.engine.event({ name: "paid", id: "e-1" });

    expect(answer).toEqual({ id: "e-1", outcome: "dropped" });
  });
});

describe("an event for all waits", () => {
  test("D10 is not for a wait that opens after it was accepted, although it is still being delivered", async () => {
    const world = await aWorld(new SimulatedStore({}));
    await declare(world, false, "AfterWait");
    for (let n = 0; n <= MAX_ROWS_IN_CALL; n++) await begin(world, `i${n}`);
    await world.drain();

    const answer = await world.engine.event({ name: "paid", id: "e-1" });
    await begin(world, "late");
    await world.drain();

    expect(answer).toEqual({ id: "e-1" });
    expect(await statusOf(world, "late")).toBe("suspended");
    expect(await world.engine.receipt("e-1")).toMatchObject({
      complete: true,
      matched: MAX_ROWS_IN_CALL + 1,
      delivered: MAX_ROWS_IN_CALL + 1,
    });
  });

  test("D10 that expired before delivery reaches none, and its receipt says so", async () => {
    const world = await aWorld(new SimulatedStore({}));
    await declare(world, false, "AfterWait");
    for (let n = 0; n <= MAX_ROWS_IN_CALL; n++) await begin(world, `i${n}`);
    await world.drain();

    await world.engine.event({ name: "paid", id: "e-1" });
    world.moveTo(world.now() + DAY);
    await world.drain();

    expect(await world.engine.receipt("e-1")).toMatchObject({
      complete: true,
      delivered: 0,
      expired: MAX_ROWS_IN_CALL + 1,
    });
    expect(await statusOf(world, "i0")).toBe("suspended");
  });
});

describe("kept events of one name", () => {
  const keptOf = (n: number, at: Instant): Item => ({
    key: keptEventKey(TENANT, "paid", n),
    version: 1,
    body: new TextEncoder().encode(
      JSON.stringify({
        name: "paid",
        seq: n,
        id: `e-${n}`,
        payload: n,
        at,
        expiresAt: at + DAY,
        once: true,
        mode: "All",
      }),
    ),
    expiresAt: instantFrom(at + DAY),
  });

  /** As if that many had been accepted. */
  async function keep(store: Store, count: number, at: Instant): Promise<void> {
    const writes = Array.from(
      { length: count },
      (_, n): Write => ({
        put: keptOf(n + 1, at),
        when: "absent",
      }),
    );
    for (let from = 0; from < writes.length; from += 90) {
      const [first, ...others] = writes.slice(from, from + 90);
      if (first) await store.commit([first, ...others]);
    }
    const [head] = await store.get([headKey(TENANT, topic)]);
    if (head === undefined) throw new Error("no head");
    const known: unknown = JSON.parse(new TextDecoder().decode(head.body));
    const body = JSON.stringify({ ...Object(known), seq: count, kept: count });
    const put = { ...head, version: head.version + 1, body: new TextEncoder().encode(body) };
    await store.commit([{ put, when: { version: head.version } }]);
  }

  test("D10 have a limit; the next is refused and stores nothing, until one is removed", async () => {
    const store = new SimulatedStore({});
    const world = await aWorld(store);
    await declare(world, true, "All");
    await keep(store, MAX_KEPT_EVENTS - 1, world.now());
    const send = (id: string) => world.engine.event({ name: "paid", id });

    expect(await send("last")).toMatchObject({ outcome: "queued" });
    await world.drain();
    const before = store.items().length;
    await expect(send("over")).rejects.toMatchObject({ code: "event/too-many-kept" });
    expect(store.items()).toHaveLength(before);

    await begin(world, "one");
    await world.drain();
    expect(await world.engine.get("one")).toMatchObject({ status: "succeeded", result: 1 });
    expect(await send("over")).toMatchObject({ outcome: "queued" });
    await world.drain();
    await expect(send("again")).rejects.toMatchObject({ code: "event/too-many-kept" });
    // What has expired does not count.
    world.moveTo(world.now() + DAY);
    expect(await send("again")).toMatchObject({ outcome: "queued" });
  });
});
