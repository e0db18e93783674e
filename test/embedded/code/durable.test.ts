import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../lib/definition/json.ts";
import type { EmbeddedEngine, EmbeddedOptions } from "../../../lib/embedded/index.ts";
import { crashImages } from "../../support/crash-images.ts";
import { aDataDir, anEngine } from "../../support/embedded.ts";
import {
  anEngineWith,
  aWorkflow,
  journalOf,
  run,
  workflowsIn,
} from "../../support/workflow-files.ts";

/** Does everything that one step may end with, without anybody's help. */
const TOUR = `
  const ids = [uuid(), random(), now()];
  const one = await task("work", "one");
  const [two, three] = [await task("work", "two"), await task("work", "three")];
  const first = await race({ slow: delay("2h"), fast: delay("1h") });
  let failure = "none";
  try { await task("fail", "four", { retry: { maxAttempts: 2, backoff: "10s" } }); }
  catch (error) { failure = (error as Error).message; }
  task("work", "five");
  return { one, two, three, first: first.key, failure, isSame: ids[0] !== uuid(), ids };`;

type Ledger = string[];
const inTour = (ledger: Ledger): Pick<EmbeddedOptions, "tasks"> => ({
  tasks: {
    work: (input: string, { idempotencyKey }: { idempotencyKey: string }) => {
      ledger.push(idempotencyKey);
      return `${input} done`;
    },
    fail: (
      input: string,
      { idempotencyKey, attempt }: { idempotencyKey: string; attempt: number },
    ) => {
      ledger.push(`${idempotencyKey}/${attempt}`);
      throw new Error(`${input} failed`);
    },
  },
});

/** Lets the instance run to its end; the clock moves as far as it takes. */
async function finish(engine: EmbeddedEngine, instanceId: string) {
  await engine.idle();
  for (let n = 0; n < 3; n++) await engine.advanceClock("PT2H");
  const { status, result } = await engine.get(instanceId);
  return { status, result, journal: await journalOf(engine, instanceId) };
}

describe("a workflow in code on the disk", () => {
  test("D2 R14 gives the same result and the same journal after a crash behind any commit", async () => {
    const dataDir = aDataDir();
    const ledger: Ledger = [];
    const { images, onTrail } = crashImages(dataDir, () => [...ledger]);
    const workflows = workflowsIn({ "w.ts": aWorkflow(TOUR) });
    const whole = await anEngine({ dataDir, workflows, onTrail, ...inTour(ledger) });
    const { instanceId } = await whole.start("w");
    const expected = await finish(whole, instanceId);
    await whole.close({ graceMs: 0 });

    for (const { dataDir: image, noted } of images) {
      const again: Ledger = [];
      const engine = await anEngine({ dataDir: image, workflows, ...inTour(again) });
      expect(await finish(engine, instanceId)).toEqual(expected);
      // What the commit asks for was not dispatched yet: nothing is lost, and nothing done twice.
      expect([...noted, ...again]).toEqual(ledger);
      await engine.close({ graceMs: 0 });
    }

    expect(expected).toMatchObject({
      status: "succeeded",
      result: { one: "one done", first: "fast", failure: "four failed", isSame: true },
    });
    expect(images.length).toBeGreaterThan(7);
  });

  test("D1 runs the code of each step once, however often it is resumed", async () => {
    const dataDir = aDataDir();
    const ledger = join(aDataDir(), "ledger");
    const workflows = workflowsIn({
      "w.ts": `import { appendFileSync } from "node:fs";
        export const note = step("note", async (what: string, { idempotencyKey }) => {
          appendFileSync(${JSON.stringify(ledger)}, \`\${what} \${idempotencyKey}\\n\`);
          return what.length;
        });
        export const w = workflow("w", async () => {
          let sum = 0;
          for (const what of ["a", "bb", "ccc"]) {
            sum += await note(what);
            await event("go");
          }
          return sum;
        });`,
    });
    const first = await anEngine({ dataDir, workflows });
    const { instanceId } = await run(first);
    await first.close();

    for (let n = 0; n < 3; n++) {
      const engine = await anEngine({ dataDir, workflows });
      await engine.event({ name: "go", target: instanceId });
      await engine.idle();
      await engine.close();
    }

    const engine = await anEngine({ dataDir, workflows });
    expect((await engine.get(instanceId)).result).toBe(6);
    const lines = readFileSync(ledger, "utf8").trim().split("\n");
    expect(lines.map((line) => line.split(" ")[0])).toEqual(["a", "bb", "ccc"]);
    expect(new Set(lines).size).toBe(3);
  });

  test("D1 R14 runs a step again under the same key when the process died inside it", async () => {
    const dataDir = aDataDir();
    const keys: string[] = [];
    const begun = Promise.withResolvers<void>();
    const body = "return task('work', 1);";
    const hangs = (_: Json, { idempotencyKey }: { idempotencyKey: string }) => {
      keys.push(idempotencyKey);
      begun.resolve();
      return new Promise(() => {});
    };
    const before = await anEngineWith(body, { dataDir, tasks: { work: hangs } });
    const { instanceId } = await before.start("w");
    await begun.promise;
    await before.close({ graceMs: 0 });

    const engine = await anEngineWith(body, {
      dataDir,
      tasks: {
        work: (_: Json, { idempotencyKey }: { idempotencyKey: string }) =>
          keys.push(idempotencyKey),
      },
    });

    expect((await engine.result(instanceId)).result).toBe(2);
    expect(new Set(keys).size).toBe(1);
  });

  test("R14 neither loses nor doubles a task that nobody has begun when the process dies", async () => {
    const dataDir = aDataDir();
    const ran: Json[] = [];
    const begun = Promise.withResolvers<void>();
    const body = "return task('work', input);";
    const hangs = () => {
      begun.resolve();
      return new Promise(() => {});
    };
    const before = await anEngineWith(body, { dataDir, concurrency: 1, tasks: { work: hangs } });
    const started = await Promise.all([1, 2, 3].map((input) => before.start("w", { input })));
    await begun.promise;
    await before.close({ graceMs: 0 });

    const engine = await anEngineWith(body, {
      dataDir,
      tasks: { work: (input: Json) => ran.push(input) && input },
    });
    const results = await Promise.all(started.map(({ instanceId }) => engine.result(instanceId)));

    expect(results.map(({ result }) => result)).toEqual([1, 2, 3]);
    expect(ran.toSorted()).toEqual([1, 2, 3]);
  });

  test("D3 replays failures as failures, which are caught by class again", async () => {
    const dataDir = aDataDir();
    const body = `const seen: unknown[] = [];
      const of = (error: unknown) => [TimedOut, TaskFailed, WorkflowError].map((one) => error instanceof one);
      try { await task("slow", 1, { timeout: "1m" }); } catch (error) { seen.push(of(error), (error as any).code); }
      try { await task("refused"); } catch (error) { seen.push(of(error), (error as any).code, (error as any).message); }
      await event("go");
      return seen;`;
    const before = await anEngineWith(body, { dataDir });
    const { instanceId } = await run(before);
    await before.advanceClock("PT1M");
    const [open] = (await before.tasks({ type: "refused" })).items;
    await before.fail(open?.taskId ?? "", { code: "NO", message: "" });
    await before.close({ graceMs: 0 });

    const engine = await anEngineWith(body, { dataDir });
    await engine.event({ name: "go", target: instanceId });

    expect((await engine.get(instanceId)).result).toEqual([
      [true, true, true],
      "TIMEOUT",
      [false, true, true],
      "NO",
      "",
    ]);
  });

  test("D3 throws again what it had caught of its waits, by class and parent class", async () => {
    const dataDir = aDataDir();
    const body = `const seen: unknown[] = [];
      const caught = async (wait: Promise<unknown>) => {
        try { await wait; } catch (error: any) {
          const classes = [CorrelationTaken, CancelledFailure, WorkflowError, AggregateError, Error];
          seen.push([error.name, error.code ?? null, classes.filter((one) => error instanceof one).map(({ name }) => name)]);
        }
      };
      const mine = message("paid", "k");
      await caught(message("paid", "k"));
      await race([mine, delay("0s")]);
      await caught(mine);
      await caught(any([message("other", "k"), message("other", "k")].map((one) => race([one, delay("1m").then(() => { throw new Error("late"); })]))));
      await event("go");
      return seen;`;
    const before = await anEngineWith(body, { dataDir });
    const { instanceId } = await run(before);
    await before.advanceClock("PT1M");
    await before.close({ graceMs: 0 });

    const engine = await anEngineWith(body, { dataDir });
    await engine.event({ name: "go", target: instanceId });

    expect((await engine.get(instanceId)).result).toEqual([
      ["CorrelationTaken", "CORRELATION_TAKEN", ["CorrelationTaken", "WorkflowError", "Error"]],
      ["CancelledFailure", null, ["CancelledFailure", "WorkflowError", "Error"]],
      ["AggregateError", null, ["AggregateError", "Error"]],
    ]);
  });

  test("D17 keeps what one of two parallel tasks has done when the process dies inside the other", async () => {
    const dataDir = aDataDir();
    const body = "return all([task('part', 'a'), task('part', 'b')]);";
    const ran: string[] = [];
    const [begun, stored] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const part = (name: string) => {
      ran.push(name);
      if (name === "a") return "a done";
      begun.resolve();
      return new Promise(() => {});
    };
    const before = await anEngineWith(body, {
      dataDir,
      tasks: { part },
      onTrail: ({ type }) => type === "task-completed" && stored.resolve(),
    });
    const { instanceId } = await before.start("w");
    await Promise.all([begun.promise, stored.promise]);
    await before.close({ graceMs: 0 });

    const engine = await anEngineWith(body, {
      dataDir,
      tasks: { part: (name: string) => ran.push(name) && `${name} again` },
    });

    expect((await engine.result(instanceId)).result).toEqual(["a done", "b again"]);
    expect(ran.toSorted()).toEqual(["a", "b", "b"]);
  });

  test("R16 that has ended is not resumed by anything that comes late", async () => {
    const dataDir = aDataDir();
    const body = "const late = task('never'); await race([late, event('go')]); return 'ended';";
    const before = await anEngineWith(body, { dataDir });
    const { instanceId } = await run(before);
    const [open] = (await before.tasks()).items;
    await before.event({ name: "go", target: instanceId });
    const history = await journalOf(before, instanceId);
    const late = before.complete(open?.taskId ?? "", { result: 1 });
    await expect(late).rejects.toMatchObject({ code: "task/not-found" });
    await before.close({ graceMs: 0 });

    const engine = await anEngineWith(body, { dataDir });
    const report = await engine.recovered;
    await engine.advanceClock("P1D");

    expect(report).toMatchObject({ resumed: 0, failed: 0 });
    expect(await engine.get(instanceId)).toMatchObject({ status: "succeeded", result: "ended" });
    expect(await journalOf(engine, instanceId)).toEqual(history);
  });
});
