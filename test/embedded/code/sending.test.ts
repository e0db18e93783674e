import { describe, expect, test } from "vitest";
import { MAX_INBOX_EVENTS } from "../../../lib/definition/limits.ts";
import { anEngineWith, run } from "../../support/workflow-files.ts";

const CAUGHT = `catch (error: any) {
  return [error instanceof TaskFailed, error.type, error.code, error.attempts];
}`;

describe("what a workflow in code sends", () => {
  test("D9 an event brings back the answer of the API, with an id of its task or its own", async () => {
    const engine = await anEngineWith(
      `if (input === null) return all([event("e"), event("last")]);
       const sent = await sendEvent({ name: "e", target: input, payload: 1 });
       const own = await sendEvent({ name: "last", target: input, id: "own" });
       return [sent, own, await sendEvent({ name: "nobody-waits" })];`,
    );
    const { instanceId: target } = await run(engine);

    const { instanceId, result } = await run(engine, target);

    expect(result).toMatchObject([
      { id: `${instanceId}:k1.1`, outcome: "delivered" },
      { id: "own", outcome: "delivered" },
      { id: `${instanceId}:k3.1`, outcome: "dropped" },
    ]);
    expect((await engine.get(target)).result).toEqual([1, null]);
  });

  test("D9 an event that has the id of an earlier one is not sent again", async () => {
    const engine = await anEngineWith(
      `if (input === null) return [await event("e"), (await race({ e: event("e"), t: delay("1h") })).key];
       for (const payload of [1, 2]) await sendEvent({ name: "e", target: input, payload, id: "same" });`,
    );
    const { instanceId: target } = await run(engine);

    await run(engine, target);
    await engine.advanceClock("PT1H");

    expect((await engine.get(target)).result).toEqual([1, "t"]);
  });

  test("D9 an event to a full inbox is tried again before it throws a TaskFailed", async () => {
    const engine = await anEngineWith(
      `if (input === null) return event("never");
       let sent = 0;
       try { for (;; sent++) await sendEvent({ name: "e", target: input }); }
       catch (error: any) { return [sent, error instanceof TaskFailed, error.attempts, error.code, error.message]; }`,
    );
    const { instanceId: target } = await run(engine);
    const { instanceId } = await run(engine, target);

    await engine.advanceClock("PT1M");

    expect((await engine.get(instanceId)).result).toEqual([
      MAX_INBOX_EVENTS,
      true,
      3,
      "event/inbox-full",
      expect.stringContaining("[event/inbox-full]"),
    ]);
  });

  test("D9 many events to a full inbox throw the code of the API as well", async () => {
    const engine = await anEngineWith(
      `if (input === null) return event("never");
       const caught = async (sent: Promise<unknown>) => {
         try { await sent; return "sent"; }
         catch (error: any) { return [error.attempts, error.code].join(" "); }
       };
       const open = Array.from({ length: 80 }, () => caught(sendEvent({ name: "e", target: input })));
       const told = await all(open);
       return [...new Set(told)].map((it) => [it, told.filter((other) => other === it).length]);`,
    );
    const { instanceId: target } = await run(engine);
    const { instanceId } = await run(engine, target);

    await engine.advanceClock("PT1M");

    expect((await engine.get(instanceId)).result).toEqual([
      ["sent", MAX_INBOX_EVENTS],
      ["3 event/inbox-full", 80 - MAX_INBOX_EVENTS],
    ]);
  });

  test("a message brings back the answer of the API", async () => {
    const engine = await anEngineWith(
      `if (input === "wait") return message("paid", "k");
       const given = { name: "paid", correlationKey: "k", payload: { n: 1 } };
       return [await sendMessage(given), await sendMessage({ ...given, timeToLive: "PT1H" })];`,
    );
    const waiting = await run(engine, "wait");

    const { instanceId, result } = await run(engine);

    expect(result).toMatchObject([
      { messageId: `${instanceId}:k1.1`, outcome: "delivered", instanceId: waiting.instanceId },
      { messageId: `${instanceId}:k2.1`, outcome: "buffered" },
    ]);
    expect((await engine.get(waiting.instanceId)).result).toEqual({ n: 1 });
  });

  test.each([
    ["without a name", '{ name: "" }', "request/invalid"],
    ["with a time to live that is none", '{ name: "m", timeToLive: "soon" }', "request/invalid"],
    ["with a list as its payload", '{ name: "m", payload: [1] as any }', "request/invalid"],
    [
      "that is too large",
      '{ name: "m", payload: { text: "x".repeat(100_001) } }',
      "request/body-too-large",
    ],
  ])(
    "a message %s throws a TaskFailed with the code of the API, at once",
    async (_, given, code) => {
      const engine = await anEngineWith(`try { await sendMessage(${given}); } ${CAUGHT}`);

      expect((await run(engine)).result).toEqual([true, "fermata:send-message", code, 1]);
    },
  );
});
