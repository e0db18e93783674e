import { describe, expect, test } from "vitest";
import type { Json } from "../../../lib/definition/json.ts";
import type { Workflow } from "../../../lib/workflow/index.ts";
import { aDataDir, anEngine } from "../../support/embedded.ts";
import { anEngineWith, run, workflowsIn } from "../../support/workflow-files.ts";

const BOOM = () => {
  throw new Error("boom");
};
const echo = (input: Json) => input;

describe("a workflow in code", () => {
  test.each<[string, Json]>([
    ["an object", { a: [1, { b: null }], "not-a-name": "ä" }],
    ["a list", [1, "two", null, [true]]],
    ["a text", "text"],
    ["a number", -1.5],
    ["false", false],
    ["null", null],
  ])("R1 takes %s as its input and returns it", async (_, input) => {
    const engine = await anEngineWith("return { got: input, type: typeof input };");

    const ended = await run(engine, input);

    expect(ended).toMatchObject({ status: "succeeded", input });
    expect(ended.result).toEqual({ got: input, type: typeof input });
  });

  test("R1 that returns nothing has the result null", async () => {
    const engine = await anEngineWith("await task('echo', 1);", { tasks: { echo } });

    const { instanceId } = await engine.start("w");

    expect(await engine.result(instanceId)).toMatchObject({
      status: "succeeded",
      terminationKind: "success",
      result: null,
    });
  });

  test("R1 that is started with nothing has the input undefined, in every replay", async () => {
    const dataDir = aDataDir();
    const workflows = workflowsIn({
      "w.ts": `export const bare = workflow("bare", async (input?: { n: number }) => {
        await event("go");
        return [typeof input, input?.n ?? 5];
      });`,
    });
    const before = await anEngine({ dataDir, workflows });
    const { instanceId } = await before.start("bare");
    const empty = await before.start("bare", { variables: {} });
    await before.idle();
    await before.close();

    const engine = await anEngine({ dataDir, workflows });
    for (const id of [instanceId, empty.instanceId]) {
      await engine.event({ name: "go", target: id });
    }

    expect((await engine.result(instanceId)).result).toEqual(["undefined", 5]);
    expect((await engine.result(empty.instanceId)).result).toEqual(["object", 5]);
    expect(await engine.get(instanceId)).toMatchObject({ input: null, variables: {} });
  });

  test("R1 may be started by its handle without an input, or with undefined", async () => {
    const engine = await anEngineWith("return typeof input;");
    const handle: Workflow<number | undefined, string> = { id: "w" };

    const without = await engine.start(handle);
    const withNone = await engine.start(handle, { input: undefined });

    expect((await engine.result(without)).result).toBe("undefined");
    expect((await engine.result(withNone)).result).toBe("undefined");
  });

  test("R1 that is started with variables has them as its input", async () => {
    const engine = await anEngineWith("return input.a + input.b;");

    const { instanceId } = await engine.start("w", { variables: { a: 1, b: 2 } });

    expect(await engine.result(instanceId)).toMatchObject({ result: 3, variables: { a: 1, b: 2 } });
  });

  test("R2 runs one task after the other, each with what the one before returned", async () => {
    const engine = await anEngineWith(
      `const one = await task("add", [input, 1]);
       const two = await task("add", [one, 10]);
       return task("add", [two, 100]);`,
      { tasks: { add: ([a, b]: [number, number]) => a + b } },
    );

    expect(await run(engine, 1)).toMatchObject({ status: "succeeded", result: 112 });
  });

  test("R2 runs a task in a loop, in order", async () => {
    const seen: Json[] = [];
    const engine = await anEngineWith(
      "const all: any[] = []; for (const one of input) all.push(await task('see', one)); return all;",
      { tasks: { see: (input: number) => seen.push(input) && input * 2 } },
    );

    const ended = await run(engine, [1, 2, 3, 4, 5]);

    expect(ended.result).toEqual([2, 4, 6, 8, 10]);
    expect(seen).toEqual([1, 2, 3, 4, 5]);
  });

  test("R3 that has returned stays live until the task that it did not wait for has run", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const done: Json[] = [];
    const engine = await anEngineWith("task('late', input); return 'early';", {
      tasks: {
        late: async (input: Json) => {
          await released;
          done.push(input);
        },
      },
    });
    const { instanceId } = await engine.start("w", { input: 7 });
    const before = await engine.get(instanceId);

    release();
    const result = await engine.result(instanceId);

    expect(before.endedAt).toBeUndefined();
    expect(before.waits).toMatchObject([{ kind: "task", taskType: "late" }]);
    expect(result).toMatchObject({ status: "succeeded", result: "early" });
    expect(done).toEqual([7]);
  });

  test("R3 succeeds although a task that it did not wait for fails", async () => {
    const engine = await anEngineWith(
      "task('boom', null, { retry: { maxAttempts: 1 } }); return 'fine';",
      { tasks: { boom: BOOM } },
    );

    expect(await run(engine)).toMatchObject({ status: "succeeded", result: "fine" });
  });

  test("R12 catches the failure of a task by class, with its type, code and message", async () => {
    const engine = await anEngineWith(
      `try { await task("pay", 5); } catch (error) {
         if (!(error instanceof TaskFailed)) throw error;
         const { name, type, code, message, attempts } = error;
         return { name, type, code, message, attempts, isParent: error instanceof WorkflowError };
       }`,
    );
    const { instanceId } = await engine.start("w");
    const [open] = (await engine.tasks()).items;

    await engine.fail(open?.taskId ?? "", { code: "DECLINED", message: "no money" });

    expect((await engine.result(instanceId)).result).toEqual({
      name: "TaskFailed",
      type: "pay",
      code: "DECLINED",
      message: "no money",
      attempts: 1,
      isParent: true,
    });
  });

  test("R12 D21 ends failed with what it did not catch: name, message, code, and a stack with its lines", async () => {
    const engine = await anEngineWith(
      `const total = await task("echo", 1);
       refuse(total);
       function refuse(total: number) {
         throw Object.assign(new RangeError("total is " + total), { code: "TOTAL" });
       }`,
      { tasks: { echo } },
    );

    const ended = await run(engine);
    const { error } = await engine.result(ended.instanceId);

    expect(ended).toMatchObject({ status: "failed", terminationKind: "failure" });
    expect(ended.error).toMatchObject({
      name: "RangeError",
      message: "total is 1",
      code: "TOTAL",
    });
    expect(ended.error?.stack).toMatch(/^ +at refuse \(w\.ts:6:\d+\)\n +at .*w\.ts:4:\d+\)$/);
    expect(error).toEqual(ended.error);
  });

  test("R12 D21 ends failed with a task's failure, whose stack leads to the call", async () => {
    const engine = await anEngineWith("await task('boom', null, { retry: { maxAttempts: 1 } });", {
      tasks: { boom: BOOM },
    });

    const { status, error } = await run(engine);

    expect(status).toBe("failed");
    expect(error).toMatchObject({ name: "TaskFailed", message: "boom" });
    expect(error?.stack).toMatch(/^ +at .*\(w\.ts:3:\d+\)$/);
  });

  test.each([
    ["undefined in a list", "[undefined]", "The input of echo: 0 is undefined"],
    ["a BigInt", "{ a: 1n }", "The input of echo: a is a bigint"],
    ["a cycle", "(() => { const a: any = {}; a.a = a; return a; })()", "contains itself"],
    ["a function", "() => 1", "The input of echo is a function"],
  ])("throws a TypeError at an operation that is given %s", async (_, value, message) => {
    const engine = await anEngineWith(
      `try { await task("echo", ${value}); } catch (error) { return String(error); }`,
      { tasks: { echo } },
    );

    expect((await run(engine)).result).toMatch(new RegExp(`^TypeError: .*${message}`));
  });

  test.each<[string, () => unknown, Json]>([
    ["nothing", () => undefined, null],
    ["null", () => null, null],
    ["a list with a date", () => [new Date(0)], ["1970-01-01T00:00:00.000Z"]],
    ["names that are no variables", () => ({ "a-b": 1 }), { "a-b": 1 }],
  ])("R2 gets %s from a handler as JSON has it", async (_, give, result) => {
    const engine = await anEngineWith("return [await task('give', null)];", { tasks: { give } });

    expect((await run(engine)).result).toEqual([result]);
  });

  test("R2 hands null to a handler as null", async () => {
    const seen: Json[] = [];
    const see = (input: Json) => void seen.push(input);
    const engine = await anEngineWith("await task('see', null); await task('see');", {
      tasks: { see },
    });

    await run(engine);

    expect(seen).toEqual([null, null]);
  });

  test("passes a date on as its ISO text", async () => {
    const engine = await anEngineWith("return task('echo', { at: new Date(0) });", {
      tasks: { echo },
    });

    expect((await run(engine)).result).toEqual({ at: "1970-01-01T00:00:00.000Z" });
  });
});
