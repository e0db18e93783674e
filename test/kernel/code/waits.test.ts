import { describe, expect, test } from "vitest";
import { done, resultOf, run } from "../../support/code-play.ts";
import { aCode } from "../../support/code-workflow.ts";
import { anEvent, type Play, play } from "../../support/play.ts";

/** Gives the wait for an event what lies unread in the inbox, as the engine does. */
const take = (it: Play, name: string) => {
  const [event] = it.instance.inbox.filter((unread) => unread.name === name);
  const { id: eventId = "", payload = null } = event ?? {};
  return it.event(`event:${name}`, { eventId, seq: undefined, payload });
};

describe("an event", () => {
  test("R10: D6: that came before the wait is kept, and taken first in first out", async () => {
    const order = await run(
      'await task("a"); return [await event("e"), await event("e")];',
      async (it) => {
        await it.send(anEvent("e", { id: "e1", payload: 1 }));
        await it.send(anEvent("e", { id: "e2", payload: 2 }));
        await done(it, "a");
        await take(it, "e");
        await take(it, "e");
      },
    );

    expect(resultOf(order)).toEqual([1, 2]);
    expect(order.instance.inbox).toEqual([]);
  });

  test("R10: D6: that comes during the wait is taken at once; one after the end is nobody's", async () => {
    const order = await run('return event("e");', async (it) => {
      await it.send(anEvent("e", { id: "e1", payload: { a: [1] } }));
      expect((await it.send(anEvent("e", { id: "e2" }))).changed).toBe(false);
    });

    expect(resultOf(order)).toEqual({ a: [1] });
  });

  test("R10: goes to the wait of its name; a payload of null is one", async () => {
    const order = await run('return all({ x: event("x"), y: event("y") });', async (it) => {
      await it.send(anEvent("y", { payload: null }));
      expect(it.open).toEqual(["event event:x"]);
      await it.send(anEvent("x", { payload: "x" }));
    });

    expect(resultOf(order)).toEqual({ x: "x", y: null });
  });

  test.each([
    ["event", (it: Play) => it.send(anEvent("stop", { payload: 1 })), "stop"],
    ["timer", (it: Play) => it.fire("timer"), "late"],
  ])("R10: D7: races a timer, and the %s wins", async (_, come, winner) => {
    const order = await run(
      'return (await race({ stop: event("stop"), late: delay("2d") })).key;',
      come,
    );

    expect(resultOf(order)).toBe(winner);
    expect(order.instance.tickets).toEqual([]);
  });

  test("R11: D7: that lost a race takes nothing: the next one is for the next wait", async () => {
    const order = await run(
      'await race([event("e"), event("f"), delay("1h")]); return event("e");',
      async (it) => {
        await it.send(anEvent("f", { id: "f1" }));
        expect(it.open).toEqual(["event event:e"]);
        await it.send(anEvent("e", { id: "e1", payload: "kept" }));
      },
    );

    expect(resultOf(order)).toBe("kept");
  });

  test("R11: that comes after its wait has lost is kept for the next wait", async () => {
    const order = await run(
      'await race([event("e"), delay("1m")]); await task("a"); return event("e");',
      async (it) => {
        await it.fire("timer");
        await it.send(anEvent("e", { payload: "kept" }));
        await done(it, "a");
        await take(it, "e");
      },
    );

    expect(resultOf(order)).toBe("kept");
  });

  test("R10: from the inbox only says so to the outside", async () => {
    const order = await run('event("a"); await event("b", { from: "inbox" });');

    expect(order.waitForEvent("event:a")).not.toHaveProperty("inbox");
    expect(order.waitForEvent("event:b")).toMatchObject({ name: "b", inbox: true });
  });
});

describe("signals and messages", () => {
  test("R10: give their payload, and history says which they were", async () => {
    const order = await run(
      'return [await signal("closed"), await message("paid", 42)];',
      async (it) => {
        await it.signal("signal:closed", { payload: { by: "me" } });
        expect(it.waitForMessage("message:paid")).toMatchObject({ name: "paid", key: "42" });
        await it.message("message:paid", { amount: 3 }, "m-7");
      },
    );

    expect(resultOf(order)).toEqual([{ by: "me" }, { amount: 3 }]);
    const data = order.instance.trail.entries.flatMap((it) => it.data ?? []);
    expect(data).toContainEqual({ messageId: "m-7" });
    expect(data).toContainEqual(expect.objectContaining({ broadcastId: "b1" }));
  });

  const TAKEN = `catch (error: any) { return [error instanceof CorrelationTaken, error.name, error.code]; }`;

  test("D3: a message that another instance waits for throws CorrelationTaken at once", async () => {
    const order = await run(`try { await message("paid", "42"); } ${TAKEN}`, undefined, {
      taken: ["paid/42"],
    });

    expect(resultOf(order)).toEqual([true, "CorrelationTaken", "CORRELATION_TAKEN"]);
    expect(order.instance.journal?.entries).toHaveLength(1);
  });

  test("D3: a message that the same instance waits for is taken as well", async () => {
    const order = await run(`message("paid"); try { await message("paid"); } ${TAKEN}`);

    expect(resultOf(order)).toEqual([true, "CorrelationTaken", "CORRELATION_TAKEN"]);
  });

  test("D3: several that are taken at once are all thrown", async () => {
    const order = await run(
      `const all = await Promise.allSettled([message("a"), message("b"), message("c")]);
       return all.map(({ status }) => status);`,
      undefined,
      { taken: ["a/", "b/", "c/"] },
    );

    expect(resultOf(order)).toEqual(["rejected", "rejected", "rejected"]);
  });

  test("D3: one that is taken and lost its race meanwhile is forgotten", async () => {
    const order = await run(
      `try { await race([message("a"), message("b")]); } ${TAKEN}`,
      undefined,
      { taken: ["a/", "b/"] },
    );

    expect(resultOf(order)).toEqual([true, "CorrelationTaken", "CORRELATION_TAKEN"]);
    expect(order.instance.journal?.entries).toHaveLength(1);
  });

  test("R10: refuse names and keys that are too long, or are no text", async () => {
    const order = await run(
      `const tried: string[] = [];
       for (const wait of [() => message("m", "k".repeat(256)), () => event("e".repeat(256)), () => signal(""), () => task(7 as any)]) {
         try { await wait(); } catch (error: any) { tried.push(error.name); }
       }
       return tried;`,
    );

    expect(resultOf(order)).toEqual(["RangeError", "RangeError", "TypeError", "TypeError"]);
  });

  test("publishSignal is an effect of the step that is committed", async () => {
    const program = aCode('publishSignal("closed", { by: input.by }); await delay("1h");');
    const order = await play(program, { variables: { by: "me" }, holdsBack: true });

    expect(order.instance.outbox.map(({ effect }) => effect)).toEqual([
      { kind: "publish-signal", name: "closed", payload: { by: "me" } },
    ]);
    expect(order.trail).toContain("signal-thrown signal:closed");
  });

  test("events and messages are sent by built-in tasks", async () => {
    const order = await run(
      'await all([sendEvent({ name: "e", target: "i2" }), sendMessage({ name: "m", correlationKey: "1" })]);',
    );

    expect(order.open).toEqual(["task fermata:send-event", "task fermata:send-message"]);
    expect(order.input("fermata:send-event")).toEqual({ name: "e", target: "i2" });
  });
});
