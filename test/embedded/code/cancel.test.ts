import { describe, expect, test } from "vitest";
import type { EmbeddedEngine } from "../../../lib/embedded/index.ts";
import { anEngineWith, journalOf, run } from "../../support/workflow-files.ts";

const cancelled = { status: "cancelled", terminationKind: "cancel", waits: [], incidents: [] };

describe("cancelling a workflow in code", () => {
  test.each<[string, string, (engine: EmbeddedEngine, instanceId: string) => Promise<unknown>]>([
    [
      "waits for an event",
      "await event('go'); return 'on';",
      (engine, target) => engine.event({ name: "go", target }),
    ],
    [
      "waits for a task of a worker",
      "await task('by-hand'); return 'on';",
      (engine, instanceId) => engine.complete(`${instanceId}.k1.1`, { result: 1 }),
    ],
    [
      "waits for a message",
      "await message('paid', 'k'); return 'on';",
      async (engine) => {
        const { outcome } = await engine.message({
          name: "paid",
          correlationKey: "k",
          timeToLive: "PT0S",
        });
        throw new Error(outcome);
      },
    ],
  ])("D14 that %s ends it, and what comes late cannot resurrect it", async (_, body, late) => {
    const engine = await anEngineWith(body);
    const { instanceId, status } = await run(engine);

    const answer = await engine.cancel(instanceId, { reason: "no longer wanted" });
    const history = await journalOf(engine, instanceId);

    expect([status, answer]).toEqual(["suspended", { cancelled: true }]);
    await expect(late(engine, instanceId)).rejects.toThrow();
    expect(await engine.get(instanceId)).toMatchObject(cancelled);
    expect((await engine.get(instanceId)).result).toBeUndefined();
    expect(await journalOf(engine, instanceId)).toEqual(history);
    expect((await engine.tasks()).items).toEqual([]);
  });

  test("D14 that sleeps removes its timer", async () => {
    const engine = await anEngineWith("await delay('1h'); return 'on';");
    const { instanceId } = await run(engine);

    await engine.cancel(instanceId);
    const { fired } = await engine.advanceClock("P1D");

    expect(fired).toBe(0);
    expect(await engine.get(instanceId)).toMatchObject(cancelled);
  });

  test("D14 whose task is running stops the task, and ignores its result", async () => {
    const begun = Promise.withResolvers<AbortSignal>();
    const release = Promise.withResolvers<string>();
    const engine = await anEngineWith("return task('work', 1);", {
      tasks: {
        work: (_: number, { signal }: { signal: AbortSignal }) => {
          begun.resolve(signal);
          return release.promise;
        },
      },
    });
    const { instanceId } = await engine.start("w");
    const signal = await begun.promise;

    const answer = await engine.cancel(instanceId);
    release.resolve("late");
    await engine.idle();

    expect(answer).toEqual({ cancelled: true });
    expect(signal.aborted).toBe(true);
    expect(await engine.get(instanceId)).toMatchObject(cancelled);
  });

  test.each([
    ["succeeded", "return 1;"],
    ["failed", "throw new Error('no');"],
  ])("D14 that has %s changes nothing, and says so", async (status, body) => {
    const engine = await anEngineWith(body);
    const { instanceId } = await run(engine);
    const before = await engine.get(instanceId);

    const answer = await engine.cancel(instanceId);

    expect(answer).toEqual({ cancelled: false });
    expect(before.status).toBe(status);
    expect(await engine.get(instanceId)).toEqual(before);
  });

  test("D14 a second time changes nothing, and says so", async () => {
    const engine = await anEngineWith("await event('go');");
    const { instanceId } = await run(engine);

    const answers = [await engine.cancel(instanceId), await engine.cancel(instanceId)];

    expect(answers).toEqual([{ cancelled: true }, { cancelled: false }]);
  });

  test("D14 tells the history which operations were open", async () => {
    const engine = await anEngineWith("await race([delay('1h'), event('go'), task('by-hand')]);");
    const { instanceId } = await run(engine);

    await engine.cancel(instanceId);

    const { items } = await engine.history(instanceId);
    expect(items.filter(({ type }) => type === "element-terminated")).toMatchObject([
      { element: "timer", occurrence: 1 },
      { element: "event:go", occurrence: 2 },
      { element: "by-hand", occurrence: 3 },
    ]);
  });

  test("F21 D14 by its deadline ends it failed, with the kind timeout", async () => {
    const engine = await anEngineWith("await delay('1d');");
    const { instanceId } = await engine.start("w", { deadline: "PT1H" });

    await engine.advanceClock("PT1H");

    expect(await engine.get(instanceId)).toMatchObject({
      status: "failed",
      terminationKind: "timeout",
      waits: [],
    });
  });
});
