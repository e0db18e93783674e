import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BusinessError } from "../../../lib/index.ts";
import { aDataDir, anEngine } from "../../support/embedded.ts";
import { anEngineWith, run, workflowsIn } from "../../support/workflow-files.ts";

/** A handler that fails as often as it is told to; `at` are the attempts. */
function flaky(failures: number, error: () => Error = () => new Error("transient")) {
  const at: number[] = [];
  const work = (_: unknown, { attempt }: { attempt: number }) => {
    at.push(attempt);
    if (at.length <= failures) throw error();
    return "done";
  };
  return { at, tasks: { work } };
}

const CATCHES = (call: string): string =>
  `try { return await ${call}; } catch (error: any) {
     return { name: error.name, code: error.code, message: error.message, attempts: error.attempts };
   }`;

describe("retries of a workflow in code", () => {
  test("D4 are not needed when the first attempt succeeds", async () => {
    const { at, tasks } = flaky(0);
    const engine = await anEngineWith("return task('work');", { tasks });

    expect((await run(engine)).result).toBe("done");
    expect(at).toEqual([1]);
  });

  test("R21 D4 follow without a table after about 1 s and 2 s, three attempts in all", async () => {
    const { at, tasks } = flaky(9);
    const engine = await anEngineWith(CATCHES("task('work')"), { tasks });
    const { instanceId } = await run(engine);
    const counts: number[] = [at.length];
    for (const by of ["PT0.799S", "PT0.201S", "PT1.599S", "PT0.401S", "PT1M"]) {
      await engine.advanceClock(by);
      counts.push(at.length);
    }

    expect(counts[1]).toBe(1);
    expect(counts[2]).toBe(2);
    expect(counts.slice(4)).toEqual([3, 3]);
    expect((await engine.get(instanceId)).result).toEqual({
      name: "TaskFailed",
      message: "transient",
      attempts: 3,
    });
  });

  test("D4 end with the first success after transient failures", async () => {
    const { at, tasks } = flaky(2);
    const engine = await anEngineWith("return task('work');", { tasks });
    const { instanceId } = await run(engine);

    await engine.advanceClock("PT10S");

    expect((await engine.get(instanceId)).result).toBe("done");
    expect(at).toEqual([1, 2, 3]);
  });

  test("D4 do not happen with one attempt in the table", async () => {
    const { at, tasks } = flaky(9);
    const engine = await anEngineWith(
      CATCHES("task('work', null, { retry: { maxAttempts: 1 } })"),
      {
        tasks,
      },
    );

    expect((await run(engine)).result).toMatchObject({ attempts: 1 });
    expect(at).toEqual([1]);
  });

  test("D4 keep to backoff, multiplier and the longest pause", async () => {
    const { at, tasks } = flaky(9);
    const retry = "{ maxAttempts: 5, backoff: '10s', multiplier: 3, maxBackoff: '1m' }";
    const engine = await anEngineWith(CATCHES(`task('work', null, { retry: ${retry} })`), {
      tasks,
    });
    await run(engine);
    const counts: number[] = [];

    for (const by of ["PT9.999S", "PT0.001S", "PT29.999S", "PT0.001S", "PT59.999S", "PT0.001S"]) {
      await engine.advanceClock(by);
      counts.push(at.length);
    }
    await engine.advanceClock("PT1M");

    expect(counts).toEqual([1, 2, 2, 3, 3, 4]);
    expect(at).toEqual([1, 2, 3, 4, 5]);
  });

  test.each([
    ["an error with a code is final", "{}", [1]],
    ["retryOn names its code", "{ maxAttempts: 3, backoff: '1s', retryOn: ['BUSY'] }", [1, 2, 3]],
    [
      "nonRetryable names its code, too",
      "{ maxAttempts: 3, backoff: '1s', retryOn: ['BUSY'], nonRetryable: ['BUSY'] }",
      [1],
    ],
  ])("D4 decide by the code: %s", async (_, retry, attempts) => {
    const { at, tasks } = flaky(9, () => new BusinessError("BUSY", "busy"));
    const engine = await anEngineWith(CATCHES(`task('work', null, { retry: ${retry} })`), {
      tasks,
    });
    const { instanceId } = await run(engine);

    await engine.advanceClock("PT1M");

    expect(at).toEqual(attempts);
    expect((await engine.get(instanceId)).result).toMatchObject({
      code: "BUSY",
      attempts: attempts.length,
    });
  });

  test("D4 are made for any other error, although it has a code: the workflow does not get it", async () => {
    const reset = () => Object.assign(new Error("reset"), { code: "ECONNRESET" });
    const { at, tasks } = flaky(9, reset);
    const engine = await anEngineWith(CATCHES("task('work')"), { tasks });
    const { instanceId } = await run(engine);

    await engine.advanceClock("PT1M");

    expect(at).toEqual([1, 2, 3]);
    expect((await engine.get(instanceId)).result).toEqual({
      name: "TaskFailed",
      message: "reset",
      attempts: 3,
    });
  });

  test("D4 R12 are not made for a business error of the SDK, or of another copy of it", async () => {
    const workflows = workflowsIn({
      "w.ts": `import { BusinessError } from "fermata-engine/workflow";
        export const own = step("own", async () => { throw new BusinessError("OWN", "mine"); });
        export const other = step("other", async () => {
          throw Object.assign(new Error("theirs"), { name: "BusinessError", code: "OTHER" });
        });
        export const w = workflow("w", async () => {
          const settled = await Promise.allSettled([own(), other()]);
          return settled.map((it: any) => [it.reason.code, it.reason.message, it.reason.attempts]);
        });`,
    });
    const engine = await anEngine({ workflows, onWarning: () => {} });

    expect((await run(engine)).result).toEqual([
      ["OWN", "mine", 1],
      ["OTHER", "theirs", 1],
    ]);
  });

  test("D4 R21 follow the table of the call for each of many like tasks", async () => {
    const at: Record<string, number[]> = {};
    const part = (n: number, { attempt }: { attempt: number }) => {
      at[n] = [...(at[n] ?? []), attempt];
      if (n === 3 || (n === 7 && attempt === 1)) throw new Error(`part ${n}`);
      return n;
    };
    const engine = await anEngineWith(
      `const parts = Array.from({ length: 12 }, (_, n) =>
         task("part", n, { retry: { maxAttempts: 4, backoff: "10s", multiplier: 2 } }));
       const settled = await Promise.allSettled(parts);
       return settled.map((it: any) => it.value ?? [it.reason.message, it.reason.attempts]);`,
      { tasks: { part }, onWarning: () => {} },
    );
    const { instanceId } = await run(engine);
    const counts: number[] = [];

    for (const by of ["PT9.999S", "PT0.001S", "PT20S", "PT39.999S", "PT0.001S"]) {
      await engine.advanceClock(by);
      counts.push(at[3]?.length ?? 0);
    }

    expect(counts).toEqual([1, 2, 3, 3, 4]);
    expect(at[7]).toEqual([1, 2]);
    expect((await engine.get(instanceId)).result).toEqual(
      Array.from({ length: 12 }, (_, n) => (n === 3 ? ["part 3", 4] : n)),
    );
  });

  test("D4 follow when the worker says, and end when it leaves no attempt", async () => {
    const engine = await anEngineWith(CATCHES("task('by-hand')"));
    const { instanceId } = await run(engine);
    const [open] = (await engine.tasks()).items;
    const poll = { type: "by-hand", max: 1, lockSeconds: 60, worker: "anna" };

    await engine.fail(open?.taskId ?? "", { message: "later", retryAfter: "PT1H" });
    const early = await engine.activate(poll);
    await engine.advanceClock("PT1H");
    const { tasks } = await engine.activate(poll);
    await engine.fail(open?.taskId ?? "", { message: "never", retries: 0 });

    expect(early.tasks).toEqual([]);
    expect(tasks).toMatchObject([{ attempt: 2 }]);
    expect((await engine.get(instanceId)).result).toMatchObject({ message: "never", attempts: 2 });
  });

  test("D4 are counted across a restart", async () => {
    const dataDir = aDataDir();
    const body = CATCHES("task('work', null, { retry: { maxAttempts: 3, backoff: '1h' } })");
    const first = flaky(9);
    const before = await anEngineWith(body, { dataDir, tasks: first.tasks });
    const { instanceId } = await run(before);
    await before.advanceClock("PT1H");
    await before.close({ graceMs: 0 });

    const second = flaky(9);
    const engine = await anEngineWith(body, { dataDir, tasks: second.tasks });
    await engine.advanceClock("PT59M");
    const early = [...second.at];
    await engine.advanceClock("PT1M");

    expect([first.at, early, second.at]).toEqual([[1, 2], [], [3]]);
    expect((await engine.get(instanceId)).result).toMatchObject({ attempts: 3 });
  });

  test("D4 of a finished task are not repeated by a replay", async () => {
    const dataDir = aDataDir();
    const body = "const got = await task('work'); await event('go'); return got;";
    const { at, tasks } = flaky(1);
    const before = await anEngineWith(body, { dataDir, tasks });
    const { instanceId } = await run(before);
    await before.advanceClock("PT1S");
    await before.close({ graceMs: 0 });

    const engine = await anEngineWith(body, { dataDir, tasks });
    await engine.event({ name: "go", target: instanceId });

    expect((await engine.get(instanceId)).result).toBe("done");
    expect(at).toEqual([1, 2]);
  });

  test("R21 follow the table of the step, and the call overrides it", async () => {
    const counted = join(aDataDir(), "attempts");
    const workflows = workflowsIn({
      "w.ts": `import { appendFileSync } from "node:fs";
        const fails = step("fails", async (name: string) => {
          appendFileSync(${JSON.stringify(counted)}, name);
          throw new Error("no");
        }, { retry: { maxAttempts: 2, backoff: "1s" } });
        export { fails };
        export const w = workflow("w", async () => {
          await fails("a").catch(() => {});
          await fails("b", { retry: { maxAttempts: 3, backoff: "1s" } }).catch(() => {});
        });`,
    });
    const engine = await anEngine({ workflows });
    const { instanceId } = await run(engine);

    await engine.advanceClock("PT1M");

    expect((await engine.get(instanceId)).status).toBe("succeeded");
    expect(readFileSync(counted, "utf8")).toBe("aabbb");
  });
});
