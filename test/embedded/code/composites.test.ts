import { describe, expect, test } from "vitest";
import type { Json } from "../../../lib/definition/json.ts";
import type { EmbeddedEngine } from "../../../lib/embedded/index.ts";
import { BusinessError } from "../../../lib/index.ts";
import { anEngineWith, run } from "../../support/workflow-files.ts";

const tasks = {
  echo: (input: Json) => input,
  refuse: (input: Json) => {
    throw new BusinessError("REFUSED", `refused ${input}`);
  },
};

/** Tasks of types that nobody runs stay open until the test completes them. */
async function taskId(engine: EmbeddedEngine, type: string): Promise<string> {
  const [open] = (await engine.tasks({ type })).items;
  if (open === undefined) throw new Error(`No task of type ${type} is open.`);
  return open.taskId;
}

const openTypes = async (engine: EmbeddedEngine): Promise<string[]> =>
  (await engine.tasks()).items.map(({ type }) => type).sort();

describe("all", () => {
  test("R4 gives the results of a list in its order, whoever was first", async () => {
    const engine = await anEngineWith("return all([task('a'), task('b'), 'plain', task('c')]);");
    const { instanceId } = await engine.start("w");

    for (const type of ["c", "a", "b"]) {
      await engine.complete(await taskId(engine, type), { result: `${type}!` });
    }

    expect((await engine.result(instanceId)).result).toEqual(["a!", "b!", "plain", "c!"]);
  });

  test("R4 gives the results of an object by its keys, and of nothing nothing", async () => {
    const engine = await anEngineWith(
      "return [await all({ x: task('echo', 1), y: task('echo', null) }), await all([]), await all({})];",
      { tasks },
    );

    expect((await run(engine)).result).toEqual([{ x: 1, y: null }, [], {}]);
  });

  test.each([0, 1, 2])(
    "R4 fails at once when member %i fails, and cancels the rest",
    async (at) => {
      const engine = await anEngineWith(
        `try { await all([task("m0"), task("m1"), task("m2")]); }
       catch (error: any) { await event("go"); return error.code; }`,
      );
      const { instanceId } = await engine.start("w");

      await engine.fail(await taskId(engine, `m${at}`), { code: "NO", message: "no" });
      const open = await openTypes(engine);
      await engine.event({ name: "go", target: instanceId });

      expect(open).toEqual([]);
      expect((await engine.result(instanceId)).result).toBe("NO");
    },
  );

  test("R4 leaves the rest alone when it is told to", async () => {
    const engine = await anEngineWith(
      `const kept = task("kept");
       try { await all([task("refuse", 1), kept], { onFailure: "leave" }); }
       catch (error: any) { return [error.code, await kept]; }`,
      { tasks },
    );
    const { instanceId } = await engine.start("w");
    await engine.idle();

    await engine.complete(await taskId(engine, "kept"), { result: "done" });

    expect((await engine.result(instanceId)).result).toEqual(["REFUSED", "done"]);
  });

  test("R8 waits for a task and a timer", async () => {
    const engine = await anEngineWith(
      "const [one, fired] = await all([task('echo', 1), delay('1h')]); return [one, fired.dueAt];",
      { tasks },
    );
    const waiting = await run(engine);

    await engine.advanceClock("PT1H");

    expect(waiting.waits).toMatchObject([{ kind: "timer", element: "timer" }]);
    expect((await engine.get(waiting.instanceId)).result).toEqual([1, waiting.waits[0]?.dueAt]);
  });

  test("R15 goes on once when three completions come at the same time", async () => {
    const ran: Json[] = [];
    const engine = await anEngineWith(
      "const got = await all([task('a'), task('b'), task('c')]); return task('after', got);",
      { tasks: { after: (input: Json) => ran.push(input) && input } },
    );
    const { instanceId } = await engine.start("w");
    const ids = await Promise.all(["a", "b", "c"].map((type) => taskId(engine, type)));

    await Promise.all(ids.map((id, n) => engine.complete(id, { result: n })));
    const again = ids.map((id) => engine.complete(id, { result: "again" }));

    for (const late of await Promise.allSettled(again)) expect(late.status).toBe("rejected");
    expect((await engine.result(instanceId)).result).toEqual([0, 1, 2]);
    expect(ran).toEqual([[0, 1, 2]]);
  });

  test("R23 runs 100 tasks at once, and gives their results in order", async () => {
    const ran: number[] = [];
    const engine = await anEngineWith(
      "return all(Array.from({ length: 100 }, (_, n) => task('double', n)));",
      { tasks: { double: (n: number) => ran.push(n) && n * 2 } },
    );

    const { status, result } = await run(engine);

    expect(status).toBe("succeeded");
    expect(result).toEqual(Array.from({ length: 100 }, (_, n) => n * 2));
    expect(ran.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, n) => n));
  });

  test("D17 of parallel tasks keeps the results of the others when one is retried", async () => {
    const calls: Record<string, number> = {};
    const engine = await anEngineWith("return all([task('part', 'a'), task('part', 'b')]);", {
      tasks: {
        part: (name: string) => {
          calls[name] = (calls[name] ?? 0) + 1;
          if (name === "b" && calls[name] === 1) throw new Error("interrupted");
          return name;
        },
      },
    });
    const { instanceId } = await run(engine);

    await engine.advanceClock("PT1S");

    expect((await engine.get(instanceId)).result).toEqual(["a", "b"]);
    expect(calls).toEqual({ a: 1, b: 2 });
  });
});

describe("any", () => {
  test("R5 skips failures and gives the first success; the others are disarmed", async () => {
    const engine = await anEngineWith(
      "const first = await any([task('refuse', 1), task('good'), task('slow')]); await event('go'); return first;",
      { tasks },
    );
    const { instanceId } = await run(engine);

    await engine.complete(await taskId(engine, "good"), { result: "good" });
    const open = await openTypes(engine);
    await engine.event({ name: "go", target: instanceId });

    expect(open).toEqual([]);
    expect((await engine.result(instanceId)).result).toBe("good");
  });

  test("R5 tells by key which member of an object it was", async () => {
    const engine = await anEngineWith("return any({ x: task('refuse', 1), y: task('echo', 2) });", {
      tasks,
    });

    expect((await run(engine)).result).toEqual({ key: "y", value: 2 });
  });

  test("R5 fails with all failures in their order when every member fails", async () => {
    const engine = await anEngineWith(
      `try { await any([task("refuse", 1), task("refuse", 2)]); }
       catch (error: any) { return [error.name, error.errors.map((one: any) => one.message)]; }`,
      { tasks },
    );

    expect((await run(engine)).result).toEqual(["AggregateError", ["refused 1", "refused 2"]]);
  });

  test("R5 fails the instance with the aggregate error that nobody catches", async () => {
    const engine = await anEngineWith("await any([task('refuse', 1)]);", { tasks });

    expect(await run(engine)).toMatchObject({
      status: "failed",
      error: { name: "AggregateError", message: "All members of any() have failed." },
    });
  });
});

describe("race", () => {
  test("R6 gives what settled first, and disarms the others", async () => {
    const engine = await anEngineWith(
      "const first = await race([task('a'), task('b')]); await event('go'); return first;",
    );
    const { instanceId } = await engine.start("w");
    const loser = await taskId(engine, "a");

    await engine.complete(await taskId(engine, "b"), { result: "b won" });
    const late = engine.complete(loser, { result: "a, late" });

    await expect(late).rejects.toMatchObject({ code: "task/not-found" });
    await engine.event({ name: "go", target: instanceId });
    expect((await engine.result(instanceId)).result).toBe("b won");
  });

  test("R6 fails when what settled first failed", async () => {
    const engine = await anEngineWith(
      "try { await race([task('refuse', 1), delay('1h')]); } catch (error: any) { return error.code; }",
      { tasks },
    );

    expect((await run(engine)).result).toBe("REFUSED");
  });

  test.each([
    [
      "the task",
      async (engine: EmbeddedEngine) =>
        engine.complete(await taskId(engine, "work"), { result: 1 }),
      { key: "done", value: 1 },
    ],
    [
      "the time",
      (engine: EmbeddedEngine) => engine.advanceClock("PT1H"),
      { key: "late", value: expect.anything() },
    ],
  ])("R6 of a task against a timer tells by key that %s was first", async (_, wake, first) => {
    const engine = await anEngineWith("return race({ done: task('work'), late: delay('1h') });");
    const { instanceId } = await engine.start("w");

    await wake(engine);

    expect(await engine.get(instanceId)).toMatchObject({ status: "succeeded", result: first });
  });

  test("R6 rejects whoever awaits a loser", async () => {
    const engine = await anEngineWith(
      `const slow = delay("1h");
       await race([task("echo", 1), slow]);
       try { await slow; } catch (error) { return error instanceof CancelledFailure; }`,
      { tasks },
    );

    expect((await run(engine)).result).toBe(true);
  });

  test("R7 nests: a race of everything against a timer, and everything of races", async () => {
    const engine = await anEngineWith(
      `return all({
         inner: race([all([task("echo", 1), task("echo", 2)]), delay("1h")]),
         first: any([race([task("refuse", 1), delay("2h")]), all({ x: task("echo", 3) })]),
       });`,
      { tasks },
    );

    const { status, result, waits } = await run(engine);

    expect({ status, result, waits }).toEqual({
      status: "succeeded",
      result: { inner: [1, 2], first: { x: 3 } },
      waits: [],
    });
  });

  test("R7 disarms what a losing async function has open", async () => {
    const engine = await anEngineWith(
      `const slow = async () => { await task("echo", 1); await task("never"); return "slow"; };
       const first = await race([slow(), event("fast")]);
       await event("go");
       return first;`,
      { tasks },
    );
    const { instanceId } = await run(engine);
    const before = await openTypes(engine);

    await engine.event({ name: "fast", target: instanceId, payload: "fast" });
    const after = await openTypes(engine);
    await engine.event({ name: "go", target: instanceId });

    expect([before, after]).toEqual([["never"], []]);
    expect((await engine.result(instanceId)).result).toBe("fast");
  });

  test("R3 R7 leaves alone what the winner started and did not wait for", async () => {
    const engine = await anEngineWith(
      `const fast = async () => { task("audit"); return task("echo", "fast"); };
       const first = await race([fast(), delay("1h")]);
       await event("go");
       return first;`,
      { tasks },
    );
    const { instanceId } = await run(engine);
    const open = await openTypes(engine);

    await engine.event({ name: "go", target: instanceId });
    await engine.complete(await taskId(engine, "audit"), {});

    expect(open).toEqual(["audit"]);
    expect((await engine.result(instanceId)).result).toBe("fast");
  });
});
