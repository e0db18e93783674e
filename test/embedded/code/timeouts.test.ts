import { describe, expect, test } from "vitest";
import { anEngineWith, run } from "../../support/workflow-files.ts";

const CATCHES = (call: string): string =>
  `try { return await ${call}; } catch (error: any) {
     return { name: error.name, code: error.code, attempts: error.attempts };
   }`;

describe("the timeout of a task of a workflow in code", () => {
  test("R21 covers all attempts and pauses", async () => {
    const at: number[] = [];
    const work = (_: unknown, { attempt }: { attempt: number }) => {
      at.push(attempt);
      throw new Error("transient");
    };
    const options = "{ timeout: '25s', retry: { maxAttempts: 99, backoff: '10s' } }";
    const engine = await anEngineWith(CATCHES(`task('work', null, ${options})`), {
      tasks: { work },
    });
    const { instanceId } = await run(engine);

    await engine.advanceClock("PT1M");

    expect(at).toEqual([1, 2, 3]);
    expect((await engine.get(instanceId)).result).toMatchObject({
      name: "TimedOut",
      code: "TIMEOUT",
      attempts: 3,
    });
  });

  test("R21 ends an attempt that runs, which learns it by its signal", async () => {
    const begun = Promise.withResolvers<void>();
    const reasons: string[] = [];
    const work = (_: unknown, { signal }: { signal: AbortSignal }) => {
      begun.resolve();
      return new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(reasons.push("no longer wanted")));
      });
    };
    const engine = await anEngineWith(CATCHES("task('work', null, { timeout: '1h' })"), {
      tasks: { work },
    });
    const { instanceId } = await engine.start("w");
    await begun.promise;

    await engine.advanceClock("PT1H");

    expect((await engine.get(instanceId)).result).toMatchObject({ name: "TimedOut", attempts: 1 });
    expect(reasons).toEqual(["no longer wanted"]);
  });

  test("R21 ends a task that no worker completes in time; its late result is refused", async () => {
    const engine = await anEngineWith(CATCHES("task('by-hand', null, { timeout: '1h' })"));
    const { instanceId } = await run(engine);
    const [open] = (await engine.tasks()).items;

    await engine.advanceClock("PT1H");

    expect((await engine.get(instanceId)).result).toMatchObject({ name: "TimedOut" });
    await expect(engine.complete(open?.taskId ?? "", { result: 1 })).rejects.toMatchObject({
      code: "task/not-found",
    });
  });
});
