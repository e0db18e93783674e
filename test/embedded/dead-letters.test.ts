import { describe, expect, test } from "vitest";
import { aCodeEngine } from "../support/code-engine.ts";
import { aDataDir } from "../support/embedded.ts";
import { isWaiting, workflows } from "../support/event-workflows.ts";
import { signal, type Workflow } from "../support/generator-runner.ts";
import { leftBy, NOTHING_LEFT } from "../support/left-in-store.ts";

type Engine = Awaited<ReturnType<typeof aCodeEngine>>;

describe("onTargetTerminated", () => {
  /** Ends as its input says, with its events unread. */
  const ending: Workflow = function* ({ how }) {
    yield signal("go");
    if (how === "failure") throw new Error("no");
    return null;
  };
  const ended = { ...workflows, ending };
  const ENDS = [
    ["success", "succeeded", (engine: Engine) => engine.signal("go")],
    ["failure", "failed", (engine: Engine) => engine.signal("go")],
    ["cancel", "cancelled", (engine: Engine) => engine.cancel("a")],
    ["timeout", "failed", (engine: Engine) => engine.advanceClock("PT1H")],
  ] as const;

  async function aTarget(
    how: string,
    onTargetTerminated: "discard" | "broadcast" | "deadLetter",
    dataDir = aDataDir(),
  ) {
    const engine = await aCodeEngine(ended, { dataDir });
    await engine.setEventType("paid", { onTargetTerminated });
    const deadline = how === "timeout" ? { deadline: "PT1H" } : {};
    await engine.start("ending", { instanceId: "a", variables: { how }, ...deadline });
    await engine.event({ name: "paid", payload: { n: 1 }, target: "a", id: "e-1" });
    await engine.event({ name: "paid", payload: { n: 2 }, target: "a", id: "e-2" });
    return { engine, dataDir };
  }

  test.each(ENDS)("D11 discard drops unread events, at the end by %s", async (how, status, end) => {
    const { engine, dataDir } = await aTarget(how, "discard");
    await engine.start("waits", { instanceId: "other" });
    await end(engine);
    await engine.idle();
    expect(await engine.get("a")).toMatchObject({ status, terminationKind: how });
    expect((await engine.deadLetters()).items).toEqual([]);
    expect(await isWaiting(engine, "other")).toBe(true);
    await engine.cancel("other");
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  test.each(ENDS)(
    "D11 broadcast offers unread events to other waits, at the end by %s",
    async (how, status, end) => {
      const { engine, dataDir } = await aTarget(how, "broadcast");
      for (const instanceId of ["b", "c", "d"]) {
        await engine.start("waits", { instanceId });
        await engine.advanceClock("PT1S");
      }
      await end(engine);
      await engine.idle();
      expect(await engine.get("a")).toMatchObject({ status, terminationKind: how });
      expect((await engine.get("b")).result).toEqual({ n: 1 });
      expect((await engine.get("c")).result).toEqual({ n: 2 });
      expect(await isWaiting(engine, "d")).toBe(true);
      expect((await engine.deadLetters()).items).toEqual([]);
      await engine.cancel("d");
      expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
    },
  );

  test.each(ENDS)(
    "D11 deadLetter keeps unread events for inspection, at the end by %s",
    async (how, status, end) => {
      const { engine, dataDir } = await aTarget(how, "deadLetter");
      await end(engine);
      await engine.idle();
      const { items } = await engine.deadLetters({ name: "paid" });
      expect(items.toSorted((a, b) => a.id.localeCompare(b.id))).toMatchObject([
        { id: "e-1", name: "paid", payload: { n: 1 }, target: "a", targetStatus: status },
        { id: "e-2", name: "paid", payload: { n: 2 }, target: "a", targetStatus: status },
      ]);
      expect(items[0]?.reason).toContain("before it read the event");
      expect((await engine.deadLetters({ name: "other" })).items).toEqual([]);
      expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
    },
  );

  test("D11 is the setting at the time when the event was sent", async () => {
    const { engine } = await aTarget("success", "deadLetter");
    await engine.setEventType("paid", { onTargetTerminated: "discard" });
    await engine.event({ name: "paid", target: "a", id: "e-3" });
    await engine.signal("go");
    await engine.idle();
    const { items } = await engine.deadLetters();
    expect(items.map(({ id }) => id).sort()).toEqual(["e-1", "e-2"]);
  });

  test("D11 is kept across a restart right after the end", async () => {
    const { engine: before, dataDir } = await aTarget("success", "deadLetter");
    await before.cancel("a");
    await before.close({ graceMs: 0 });
    const engine = await aCodeEngine(ended, { dataDir });
    await engine.idle();
    const { items } = await engine.deadLetters();
    expect(items.map(({ id }) => id).sort()).toEqual(["e-1", "e-2"]);
    expect(await leftBy(engine, dataDir)).toEqual(NOTHING_LEFT);
  });

  describe("a dead letter", () => {
    async function aDeadLetter() {
      const made = await aTarget("success", "deadLetter");
      await made.engine.cancel("a");
      await made.engine.idle();
      return made;
    }
    const idsOf = async (engine: Engine) =>
      (await engine.deadLetters()).items.map(({ id }) => id).sort();

    test("D11 resumes a wait when it is replayed, and is then removed", async () => {
      const { engine } = await aDeadLetter();
      await engine.start("waits", { instanceId: "b" });
      const replayed = await engine.replayDeadLetter("e-1");
      await engine.idle();
      expect(replayed).toMatchObject({ id: "e-1~r1", outcome: "delivered" });
      expect(await engine.get("b")).toMatchObject({ status: "succeeded", result: { n: 1 } });
      expect(await idsOf(engine)).toEqual(["e-2"]);
      await expect(engine.replayDeadLetter("e-1")).rejects.toMatchObject({
        code: "dead-letter/not-found",
      });
    });

    test("D11 stays if no instance takes it, and each replay has its own id", async () => {
      const { engine } = await aDeadLetter();
      for (const n of [1, 2]) {
        expect(await engine.replayDeadLetter("e-1")).toMatchObject({
          id: `e-1~r${n}`,
          outcome: "dropped",
        });
      }
      expect(await idsOf(engine)).toEqual(["e-1", "e-2"]);
      await engine.start("waits", { instanceId: "b" });
      expect(await isWaiting(engine, "b")).toBe(true);
      expect(await engine.replayDeadLetter("e-1")).toMatchObject({ id: "e-1~r3" });
      await engine.idle();
      expect((await engine.get("b")).result).toEqual({ n: 1 });
    });

    test("D11 reaches all waits if its type says so, and later ones if it is kept", async () => {
      const { engine } = await aDeadLetter();
      await engine.setEventType("paid", { consumeOnRead: false, deliveryMode: "All" });
      for (const instanceId of ["b", "c"]) await engine.start("waits", { instanceId });
      const replayed = await engine.replayDeadLetter("e-1");
      await engine.idle();
      await engine.start("waits", { instanceId: "d" });
      await engine.idle();
      expect(replayed).toMatchObject({ outcome: "delivered", deliveredCount: 2 });
      for (const id of ["b", "c", "d"]) expect((await engine.get(id)).result).toEqual({ n: 1 });
    });

    test("D11 can be removed, once", async () => {
      const { engine } = await aDeadLetter();
      expect(await engine.removeDeadLetter("e-1")).toEqual({ removed: true });
      expect(await idsOf(engine)).toEqual(["e-2"]);
      for (const again of [engine.removeDeadLetter("e-1"), engine.removeDeadLetter("nope")]) {
        await expect(again).rejects.toMatchObject({ code: "dead-letter/not-found" });
      }
    });

    test("D11 is kept for thirty days", async () => {
      const { engine } = await aDeadLetter();
      await engine.advanceClock("P29D");
      expect(await idsOf(engine)).toEqual(["e-1", "e-2"]);
      await engine.advanceClock("P1D");
      expect(await idsOf(engine)).toEqual([]);
      await expect(engine.replayDeadLetter("e-1")).rejects.toMatchObject({
        code: "dead-letter/not-found",
      });
    });

    test("D11 of an id that several instances had is stored once per instance", async () => {
      const engine = await aCodeEngine(ended);
      await engine.setEventType("paid", { onTargetTerminated: "deadLetter" });
      for (const instanceId of ["a", "b"]) {
        await engine.start("ending", { instanceId });
        await engine.event({ name: "paid", target: instanceId, id: "same" });
        await engine.cancel(instanceId);
      }
      await engine.idle();
      const { items } = await engine.deadLetters();
      expect(items.map(({ target }) => target).sort()).toEqual(["a", "b"]);
      expect(new Set(items.map(({ id }) => id)).size).toBe(2);
    });

    test("D11 can be listed page by page, the newest first", async () => {
      const engine = await aCodeEngine(ended);
      await engine.setEventType("paid", { onTargetTerminated: "deadLetter" });
      await engine.start("ending", { instanceId: "a" });
      for (const n of [1, 2, 3, 4, 5]) {
        await engine.event({ name: "paid", target: "a", id: `e-${n}` });
        await engine.advanceClock("PT1S");
      }
      await engine.cancel("a");
      await engine.idle();
      const first = await engine.deadLetters({ limit: 3 });
      const second = await engine.deadLetters({ limit: 3, cursor: first.nextCursor ?? "" });
      const ids = [...first.items, ...second.items].map(({ id }) => id);
      expect(ids).toEqual(["e-5", "e-4", "e-3", "e-2", "e-1"]);
    });
  });
});
