import { describe, expect, test } from "vitest";
import type { EmbeddedEngine } from "../../../lib/embedded/index.ts";
import { aDataDir } from "../../support/embedded.ts";
import { anEngineWith, run } from "../../support/workflow-files.ts";

/** Sends one event after the other to an instance. */
async function send(engine: EmbeddedEngine, target: string, name: string, ...payloads: unknown[]) {
  for (const payload of payloads) {
    await engine.event({ name, target, payload: payload as never });
  }
}

describe("a timer of a workflow in code", () => {
  test.each([
    ["a short duration", "delay('90m')", "PT90M"],
    ["an ISO duration", "sleep('PT1H30M')", "PT90M"],
    ["a fraction", "delay('1.5s')", "PT1.5S"],
    ["days", "delay('2d')", "P2D"],
    ["an instant", "sleepUntil(new Date(now().getTime() + 5_000))", "PT5S"],
    ["an instant as text", "sleepUntil(new Date(Date.now() + 5_000).toISOString())", "PT5S"],
  ])("R9 D5 fires after %s, and not before", async (_, timer, duration) => {
    const engine = await anEngineWith(`const { dueAt, firedAt } = await ${timer};
      return [dueAt, firedAt];`);
    const { instanceId, waits } = await run(engine);
    const dueAt = waits[0]?.dueAt;

    const { fired } = await engine.advanceClock(duration);

    expect(waits).toMatchObject([{ kind: "timer", element: "timer" }]);
    expect(fired).toBe(1);
    expect((await engine.get(instanceId)).result).toEqual([dueAt, dueAt]);
  });

  test.each([
    "delay('0s')",
    "delay('PT0S')",
    "sleepUntil(0)",
    "sleepUntil('1999-01-01T00:00:00Z')",
  ])("R9 D5 fires at once for %s", async (timer) => {
    const engine = await anEngineWith(`await ${timer}; return "on";`);

    expect((await run(engine)).result).toBe("on");
  });

  test("R9 waits only the rest when it was started before and is awaited late", async () => {
    const engine = await anEngineWith(
      "const timer = delay('1h'); await event('go'); const { dueAt, firedAt } = await timer; return firedAt - dueAt;",
    );
    const { instanceId } = await run(engine);
    await engine.advanceClock("PT40M");
    await send(engine, instanceId, "go", null);
    const between = await engine.get(instanceId);

    await engine.advanceClock("PT20M");

    expect(between.status).toBe("suspended");
    expect(await engine.get(instanceId)).toMatchObject({ status: "succeeded", result: 0 });
  });

  test("R9 that fired before it is awaited does not wait at all", async () => {
    const engine = await anEngineWith(
      "const timer = delay('1h'); await event('go'); await timer; return 'on';",
    );
    const { instanceId } = await run(engine);

    await engine.advanceClock("PT2H");
    await send(engine, instanceId, "go", null);

    expect((await engine.get(instanceId)).result).toBe("on");
  });

  test.each([
    ["delay('-1s')", "RangeError", "negative"],
    ["delay('soon')", "RangeError", "not a duration"],
    ["sleepUntil('soon')", "RangeError", "not an instant"],
  ])("R9 D5 throws for %s", async (timer, name, message) => {
    const engine = await anEngineWith(`await ${timer};`);

    const { status, error } = await run(engine);

    expect(status).toBe("failed");
    expect(error).toMatchObject({ name, message: expect.stringContaining(message) });
  });
});

describe("an event of a workflow in code", () => {
  const takesThree = "return [await event('e'), await event('e'), await event('e')];";

  test("R10 D6 that came before the wait is kept, and taken in the order of sending", async () => {
    const engine = await anEngineWith(`await event("go"); ${takesThree}`);
    const { instanceId } = await run(engine);

    await send(engine, instanceId, "e", 1, null, { three: [3] });
    await send(engine, instanceId, "go", null);

    expect((await engine.get(instanceId)).result).toEqual([1, null, { three: [3] }]);
  });

  test("R10 D6 that comes while the workflow waits resumes it", async () => {
    const engine = await anEngineWith(takesThree);
    const { instanceId } = await run(engine);

    await send(engine, instanceId, "e", "a", "b", "c");

    expect((await engine.get(instanceId)).result).toEqual(["a", "b", "c"]);
  });

  test("R10 D6 has a queue of its own for each name", async () => {
    const engine = await anEngineWith("return [await event('b'), await event('a')];");
    const { instanceId } = await run(engine);

    await send(engine, instanceId, "a", "for a");
    await send(engine, instanceId, "b", "for b");

    expect((await engine.get(instanceId)).result).toEqual(["for b", "for a"]);
  });

  test("D6 that comes after the end is refused", async () => {
    const engine = await anEngineWith("return await event('e');");
    const { instanceId } = await run(engine);
    await send(engine, instanceId, "e", 1);

    const late = send(engine, instanceId, "e", 2);

    await expect(late).rejects.toMatchObject({ code: "instance/ended" });
    expect((await engine.get(instanceId)).result).toBe(1);
  });

  test("D6 that was kept survives a restart", async () => {
    const dataDir = aDataDir();
    const body = "await event('go'); return event('e');";
    const before = await anEngineWith(body, { dataDir });
    const { instanceId } = await run(before);
    await send(before, instanceId, "e", "kept");
    await before.close({ graceMs: 0 });

    const engine = await anEngineWith(body, { dataDir });
    await send(engine, instanceId, "go", null);

    expect((await engine.get(instanceId)).result).toBe("kept");
  });

  test("R10 wins against a timer, which is removed", async () => {
    const engine = await anEngineWith(
      "const first = await race({ e: event('e'), t: delay('1h') }); await event('go'); return first;",
    );
    const { instanceId } = await run(engine);

    await send(engine, instanceId, "e", null);
    const { waits } = await engine.get(instanceId);
    const { fired } = await engine.advanceClock("PT2H");
    await send(engine, instanceId, "go", null);

    expect(waits).toMatchObject([{ kind: "event", name: "go" }]);
    expect(fired).toBe(0);
    expect((await engine.get(instanceId)).result).toEqual({ key: "e", value: null });
  });

  test("R10 R11 that loses against a timer takes nothing: the next wait gets the event", async () => {
    const engine = await anEngineWith(
      "const { key } = await race({ e: event('e'), t: delay('1h') }); return [key, await event('e')];",
    );
    const { instanceId } = await run(engine);

    await engine.advanceClock("PT1H");
    await send(engine, instanceId, "e", "for the next");

    expect((await engine.get(instanceId)).result).toEqual(["t", "for the next"]);
  });

  test("D7 of two and a timer has one winner under concurrent delivery, and the loser stays queued", async () => {
    const engine = await anEngineWith(
      `const first = await race({ a: event("a"), b: event("b"), t: delay("1h") });
       const other = await event(first.key === "a" ? "b" : "a");
       return [first, other];`,
    );
    const { instanceId } = await run(engine);

    await Promise.all(["a", "b"].map((name) => send(engine, instanceId, name, `from ${name}`)));
    const { fired } = await engine.advanceClock("PT2H");
    const [first, other] = (await engine.get(instanceId)).result as [{ key: string }, string];

    expect(fired).toBe(0);
    expect(first).toEqual({ key: first.key, value: `from ${first.key}` });
    expect(other).toBe(first.key === "a" ? "from b" : "from a");
    const { items } = await engine.history(instanceId);
    expect(items.filter(({ type }) => type === "element-terminated")).toMatchObject([
      { element: `event:${first.key === "a" ? "b" : "a"}` },
      { element: "timer" },
    ]);
  });

  test("D7 of two and a timer has one winner when all three come at once, and loses no event", async () => {
    const engine = await anEngineWith(
      `const { key } = await race({ a: event("a"), b: event("b"), t: delay("1h") });
       await event("go");
       const others = ["a", "b"].filter((name) => name !== key);
       return [key, await all(others.map((name) => event(name)))];`,
    );
    const { instanceId } = await run(engine);

    await Promise.all([
      engine.advanceClock("PT1H"),
      ...["a", "b"].map((name) => send(engine, instanceId, name, `from ${name}`)),
    ]);
    const { waits } = await engine.get(instanceId);
    await send(engine, instanceId, "go", null);
    const [key, others] = (await engine.get(instanceId)).result as [string, string[]];

    expect(waits).toMatchObject([{ kind: "event", name: "go" }]);
    expect(others).toEqual(["a", "b"].filter((name) => name !== key).map((it) => `from ${it}`));
  });

  test("D7 keeps its winner across a replay", async () => {
    const dataDir = aDataDir();
    const body = `const first = await race({ a: event("a"), b: event("b"), t: delay("1h") });
      await event("go"); return first.key;`;
    const before = await anEngineWith(body, { dataDir });
    const { instanceId } = await run(before);
    await send(before, instanceId, "b", null);
    await send(before, instanceId, "a", null);
    await before.close({ graceMs: 0 });

    const engine = await anEngineWith(body, { dataDir });
    await send(engine, instanceId, "go", null);

    expect((await engine.get(instanceId)).result).toBe("b");
  });
});

describe("sending from a workflow in code", () => {
  const asks = `try { return await sendEvent(input); } catch (error) {
    return [error instanceof TaskFailed, (error as any).code, (error as any).attempts]; }`;

  test("D9 to an instance that does not exist throws a TaskFailed with the code", async () => {
    const engine = await anEngineWith(asks);

    const { result } = await run(engine, { name: "e", target: "nobody" });

    expect(result).toEqual([true, "instance/not-found", 1]);
  });

  test("D9 to an instance that has ended throws a TaskFailed with the code", async () => {
    const engine = await anEngineWith(asks);
    const { instanceId } = await run(engine, { name: "e", target: "nobody" });

    expect((await run(engine, { name: "e", target: instanceId })).result).toEqual([
      true,
      "instance/ended",
      1,
    ]);
  });

  test("D9 queues at a target that does not wait yet, in the order of sending", async () => {
    const engine = await anEngineWith(
      `if (input === null) { await event("go"); return [await event("e"), await event("e")]; }
       await sendEvent({ name: "e", target: input, payload: "first" });
       await sendEvent({ name: "e", target: input, payload: ["second"] });
       await sendEvent({ name: "go", target: input });`,
    );
    const target = await run(engine);

    const sender = await run(engine, target.instanceId);

    expect(sender.status).toBe("succeeded");
    expect((await engine.get(target.instanceId)).result).toEqual(["first", ["second"]]);
  });

  test("resumes the message wait and the signal wait of another instance", async () => {
    const engine = await anEngineWith(
      `if (input === "wait") return all([message("paid", 7), signal("opened")]);
       await sendMessage({ name: "paid", correlationKey: "7", payload: { by: "card" } });
       publishSignal("opened", { door: 1 });`,
    );
    const waiting = await run(engine, "wait");

    await run(engine, "send");

    expect((await engine.get(waiting.instanceId)).result).toEqual([{ by: "card" }, { door: 1 }]);
  });

  test("throws CorrelationTaken while another instance waits for the same message", async () => {
    const engine = await anEngineWith(
      "try { return await message('paid', 'k'); } catch (error) { return error instanceof CorrelationTaken; }",
    );
    await run(engine);

    expect((await run(engine)).result).toBe(true);
  });
});
