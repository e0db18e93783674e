import { describe, expect, test } from "vitest";
import { MAX_INBOX_EVENTS, MAX_ROWS_IN_CALL } from "../../lib/definition/limits.ts";
import { aCodeEngine } from "../support/code-engine.ts";
import { aDataDir } from "../support/embedded.ts";
import { finishWork, isWaiting, workflows } from "../support/event-workflows.ts";
import { leftBy, NOTHING_LEFT } from "../support/left-in-store.ts";

type Engine = Awaited<ReturnType<typeof aCodeEngine>>;

describe("consumeOnRead", () => {
  async function waiting(engine: Engine, ids: readonly string[]): Promise<void> {
    for (const instanceId of ids) {
      await engine.start("waits", { instanceId });
      await engine.advanceClock("PT1S");
    }
  }

  test("D10 true gives a broadcast to exactly the wait that is oldest", async () => {
    const dataDir = aDataDir();
    const engine = await aCodeEngine(workflows, { dataDir });
    const ids = ["c", "a", "b"];
    await waiting(engine, ids);

    for (const [n, id] of ids.entries()) {
      const sent = await engine.event({ name: "paid", payload: n });
      await engine.idle();
      expect(sent).toMatchObject({ outcome: "delivered", deliveredCount: 1 });
      expect(await engine.get(id)).toMatchObject({ status: "succeeded", result: n });
      for (const other of ids.slice(n + 1)) expect(await isWaiting(engine, other)).toBe(true);
    }
    expect(await engine.event({ name: "paid" })).toMatchObject({ outcome: "dropped" });
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("D10 true gives each of many concurrent events to another wait", async () => {
    const dataDir = aDataDir();
    const engine = await aCodeEngine(workflows, { dataDir });
    const ids = Array.from({ length: 10 }, (_, n) => `i${n}`);
    await waiting(engine, ids);
    const sent = await Promise.all(ids.map((_, n) => engine.event({ name: "paid", payload: n })));
    await engine.idle();
    expect(sent.map(({ outcome }) => outcome)).toEqual(ids.map(() => "delivered"));
    const results = await Promise.all(ids.map(async (id) => (await engine.get(id)).result));
    expect(results.toSorted()).toEqual(ids.map((_, n) => n));
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("D10 false gives it to all waits", async () => {
    const dataDir = aDataDir();
    const engine = await aCodeEngine(workflows, { dataDir });
    await engine.setEventType("paid", { consumeOnRead: false });
    const ids = ["a", "b", "c"];
    await waiting(engine, ids);
    await engine.start("twice", { instanceId: "d" });

    const sent = await engine.event({ name: "paid", payload: 7, id: "e-1" });
    await engine.idle();

    expect(sent).toEqual({ id: "e-1", outcome: "delivered", deliveredCount: 4 });
    expect(await engine.receipt("e-1")).toMatchObject({
      kind: "event",
      complete: true,
      delivered: 4,
    });
    for (const id of ids) expect((await engine.get(id)).result).toBe(7);
    // A wait that is opened again does not get the same event again.
    expect(await isWaiting(engine, "d")).toBe(true);
    await engine.cancel("d");
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("D10 false to more waits than a call delivers to reports by its receipt", async () => {
    const engine = await aCodeEngine(workflows);
    await engine.setEventType("paid", { consumeOnRead: false });
    const count = MAX_ROWS_IN_CALL + 1;
    for (let n = 0; n < count; n++) await engine.start("waits", { instanceId: `i${n}` });
    const sent = await engine.event({ name: "paid", id: "e-1" });
    await engine.idle();
    expect(sent).toEqual({ id: "e-1" });
    expect(await engine.receipt("e-1")).toMatchObject({ complete: true, delivered: count });
    expect((await engine.list({ status: "suspended" })).items).toEqual([]);
  });
});

describe.each([true, false])("deliveryMode, with consumeOnRead %s,", (consumeOnRead) => {
  /** One that had started before the event, one that has started since; neither waited. */
  async function aBroadcast(deliveryMode: "AfterWait" | "AfterCreate" | "All") {
    const dataDir = aDataDir();
    const engine = await aCodeEngine(workflows, { dataDir });
    await engine.setEventType("paid", { consumeOnRead, deliveryMode });
    await engine.start("works", { instanceId: "before" });
    await engine.advanceClock("PT1S");
    const sent = await engine.event({ name: "paid", payload: 1, id: "e-1" });
    await engine.idle();
    await engine.advanceClock("PT1S");
    await engine.start("works", { instanceId: "since" });
    return { engine, dataDir, sent };
  }

  async function expectWaiting(engine: Engine, id: string): Promise<void> {
    await finishWork(engine, id);
    expect((await engine.waits(id)).items).toMatchObject([{ kind: "event" }]);
  }

  async function expectRead(engine: Engine, id: string): Promise<void> {
    await finishWork(engine, id);
    expect(await engine.get(id)).toMatchObject({ status: "succeeded", result: 1 });
  }

  test("D10 AfterWait drops an event without a wait", async () => {
    const { engine, dataDir, sent } = await aBroadcast("AfterWait");
    expect(sent).toMatchObject({ outcome: "dropped" });
    for (const id of ["before", "since"]) {
      await expectWaiting(engine, id);
      await engine.cancel(id);
    }
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test("D10 AfterCreate is for later waits of instances that had started, and for no others", async () => {
    const { engine, dataDir, sent } = await aBroadcast("AfterCreate");
    expect(sent).toMatchObject({ outcome: "queued" });
    await expectWaiting(engine, "since");
    await expectRead(engine, "before");
    await engine.cancel("since");
    const kept = consumeOnRead ? [] : ["paid e-1"];
    expect(await leftBy(engine, dataDir)).toEqual({ ...NOTHING_LEFT, kept });
  });

  test("D10 All is for any later wait", async () => {
    const { engine, dataDir, sent } = await aBroadcast("All");
    expect(sent).toMatchObject({ outcome: "queued" });
    await expectRead(engine, "since");
    if (consumeOnRead) {
      await expectWaiting(engine, "before");
      await engine.cancel("before");
    } else {
      await expectRead(engine, "before");
    }
    const kept = consumeOnRead ? [] : ["paid e-1"];
    expect(await leftBy(engine, dataDir)).toEqual({ ...NOTHING_LEFT, kept });
  });

  test("D10 All lets an instance read it once, however often it waits", async () => {
    const { engine, dataDir } = await aBroadcast("All");
    await engine.start("twice", { instanceId: "again" });
    await engine.idle();
    expect((await engine.waits("again")).items).toMatchObject([{ kind: "event" }]);
    await engine.event({ name: "paid", payload: 2 });
    await engine.idle();
    expect((await engine.get("again")).result).toEqual([1, 2]);
    await engine.cancel("before");
    await engine.cancel("since");
    expect((await leftBy(engine, dataDir)).rows).toEqual([]);
  });

  test("D10 D6 All is read by a wait after a restart", async () => {
    const { engine: before, dataDir } = await aBroadcast("All");
    await before.close({ graceMs: 0 });
    const engine = await aCodeEngine(workflows, { dataDir });
    await expectRead(engine, "since");
    await engine.cancel("before");
  });

  test("D10 is read oldest first, after events that were sent to the instance", async () => {
    const engine = await aCodeEngine(workflows);
    await engine.setEventType("paid", { consumeOnRead, deliveryMode: "All" });
    await engine.start("thrice", { instanceId: "a" });
    for (const payload of ["first", "second"]) await engine.event({ name: "paid", payload });
    await engine.event({ name: "paid", payload: "own", target: "a" });
    for (let n = 0; n < 3; n++) await finishWork(engine, "a");
    expect((await engine.get("a")).result).toEqual(["own", "first", "second"]);
  });
});

describe("expireAfter", () => {
  test.each([
    ["a kept broadcast for one", { consumeOnRead: true, deliveryMode: "All" }, {}],
    ["a kept broadcast for all", { consumeOnRead: false, deliveryMode: "All" }, {}],
    ["one in an inbox", {}, { target: "a" }],
  ] as const)("D10 drops %s at its expiry, and not before", async (_, config, to) => {
    const engine = await aCodeEngine(workflows);
    await engine.setEventType("paid", { ...config, expireAfter: "PT1H" });
    for (const [instanceId, wait] of [
      ["a", "PT59M59S"],
      ["b", "PT1H"],
    ] as const) {
      await engine.start("works", { instanceId });
      const target = "target" in to ? { target: instanceId } : {};
      await engine.event({ name: "paid", payload: instanceId, ...target });
      await engine.advanceClock(wait);
      await finishWork(engine, instanceId);
      if (instanceId === "a") expect((await engine.get("a")).result).toBe("a");
      else expect(await isWaiting(engine, "b")).toBe(true);
      await engine.advanceClock("PT1H");
    }
  });

  test("D10 frees space in an inbox", async () => {
    const engine = await aCodeEngine(workflows);
    await engine.setEventType("paid", { expireAfter: "PT1H" });
    await engine.start("works", { instanceId: "a" });
    const send = () => engine.event({ name: "paid", target: "a" });
    for (let n = 0; n < MAX_INBOX_EVENTS; n++) await send();
    await expect(send()).rejects.toMatchObject({ code: "event/inbox-full" });
    await engine.advanceClock("PT1H");
    expect(await send()).toMatchObject({ outcome: "queued" });
  });

  test("D11 keeps expired events out of the dead letters", async () => {
    const engine = await aCodeEngine(workflows);
    await engine.setEventType("paid", { expireAfter: "PT1H", onTargetTerminated: "deadLetter" });
    await engine.start("works", { instanceId: "a" });
    await engine.event({ name: "paid", target: "a", id: "old" });
    await engine.advanceClock("PT1H");
    await engine.event({ name: "paid", target: "a", id: "new" });
    await engine.cancel("a");
    await engine.idle();
    expect((await engine.deadLetters()).items.map(({ id }) => id)).toEqual(["new"]);
  });
});

describe("an event type", () => {
  test("D10 D11 that was not declared has one recipient, no keeping, seven days, and discards", async () => {
    const engine = await aCodeEngine(workflows);
    expect(await engine.eventType("paid")).toEqual({
      name: "paid",
      declared: false,
      consumeOnRead: true,
      deliveryMode: "AfterWait",
      expireAfter: "P7D",
      onTargetTerminated: "discard",
    });
    for (const instanceId of ["a", "b"]) {
      await engine.start("waits", { instanceId });
      await engine.advanceClock("PT1S");
    }
    await engine.start("works", { instanceId: "c" });
    await engine.start("works", { instanceId: "d" });
    expect(await engine.event({ name: "paid" })).toMatchObject({ deliveredCount: 1 });
    expect(await isWaiting(engine, "b")).toBe(true);
    await engine.event({ name: "paid", target: "b" });
    expect(await engine.event({ name: "paid" })).toMatchObject({ outcome: "dropped" });
    await engine.event({ name: "paid", target: "c", payload: "in time" });
    await engine.event({ name: "paid", target: "d", payload: "too late" });
    await engine.advanceClock("P6DT23H59M59S");
    await finishWork(engine, "c");
    expect((await engine.get("c")).result).toBe("in time");
    await engine.advanceClock("PT1S");
    await finishWork(engine, "d");
    expect(await isWaiting(engine, "d")).toBe(true);
    await engine.event({ name: "other", target: "d" });
    await engine.cancel("d");
    expect((await engine.deadLetters()).items).toEqual([]);
  });

  test("D10 that changes applies to events accepted from then on", async () => {
    const engine = await aCodeEngine(workflows);
    await engine.setEventType("paid", { deliveryMode: "All", expireAfter: "PT1H" });
    await engine.event({ name: "paid", payload: "first" });
    await engine.setEventType("paid", { deliveryMode: "All", expireAfter: "P1D" });
    await engine.event({ name: "paid", payload: "second" });
    await engine.setEventType("paid", { deliveryMode: "AfterWait" });
    const third = await engine.event({ name: "paid", payload: "third" });
    await engine.advanceClock("PT2H");
    await engine.start("twice", { instanceId: "a" });
    await engine.idle();

    expect(third).toMatchObject({ outcome: "dropped" });
    expect((await engine.waits("a")).items).toMatchObject([{ kind: "event" }]);
    await engine.event({ name: "paid", payload: "fourth" });
    await engine.idle();
    expect((await engine.get("a")).result).toEqual(["second", "fourth"]);
  });

  test("survives a restart, and is refused with everything that is wrong", async () => {
    const dataDir = aDataDir();
    const before = await aCodeEngine(workflows, { dataDir });
    const declared = await before.setEventType("paid", { consumeOnRead: false });
    const wrong = { deliveryMode: "Never", expireAfter: "soon" } as never;
    await expect(before.setEventType("paid", wrong)).rejects.toMatchObject({
      code: "request/invalid",
      details: [{ path: "deliveryMode" }, { path: "expireAfter" }],
    });
    await expect(before.setEventType("paid", { expireAfter: "PT0S" })).rejects.toMatchObject({
      code: "request/invalid",
    });
    await before.close();
    const after = await aCodeEngine(workflows, { dataDir });
    expect(await after.eventType("paid")).toEqual(declared);
    expect(declared).toMatchObject({ declared: true, consumeOnRead: false });
  });
});

describe("a broadcast event's id", () => {
  test.each([
    ["one that was delivered", { deliveryMode: "AfterWait" }, true],
    ["one that was dropped", { deliveryMode: "AfterWait" }, false],
    ["one that is kept", { deliveryMode: "All" }, false],
    ["one for all that was delivered", { consumeOnRead: false }, true],
    ["one for all that was dropped", { consumeOnRead: false }, false],
    ["one for all that is kept", { consumeOnRead: false, deliveryMode: "All" }, false],
  ] as const)(
    "D10 of %s gets the same response again, and no second recipient",
    async (_, config, waits) => {
      const engine = await aCodeEngine(workflows);
      await engine.setEventType("paid", config);
      if (waits) await engine.start("waits", { instanceId: "a" });
      const send = (payload = 1) => engine.event({ name: "paid", payload, id: "e-1" });
      const first = await send();
      await engine.idle();
      const isKept = "deliveryMode" in config && config.deliveryMode === "All";
      if (!isKept) await engine.start("waits", { instanceId: "b" });

      expect(await send()).toEqual(first);
      await engine.idle();
      if (!isKept) expect(await isWaiting(engine, "b")).toBe(true);
      await expect(send(2)).rejects.toMatchObject({ code: "request/key-reused" });
    },
  );
});
