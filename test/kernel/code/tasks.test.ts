import { describe, expect, test } from "vitest";
import type { Json } from "../../../lib/definition/json.ts";
import { broken, done, resultOf, run } from "../../support/code-play.ts";
import { BEGIN } from "../../support/play.ts";

describe("a workflow in code", () => {
  test.each<[string, Json]>([
    ["an object", { order: 7, lines: [{ sku: "a" }] }],
    ["a list", [1, "two", null]],
    ["a text", "hello"],
    ["a number", 1.5],
    ["false", false],
    ["null", null],
  ])("R1: takes %s as its input, and returns it", async (_, input) => {
    const order = await run("return input;", undefined, { input });

    expect(order.status).toBe("succeeded success");
    expect(resultOf(order)).toEqual(input);
    expect(order.program.runner.view(order.instance).input).toEqual(input);
  });

  test("R1: takes its variables where it has no other input", async () => {
    const order = await run("return { got: input };", undefined, { variables: { amount: 3 } });

    expect(resultOf(order)).toEqual({ got: { amount: 3 } });
  });

  test.each([
    ["nothing", ""],
    ["undefined", "return undefined;"],
  ])("R1: returns null when it returns %s", async (_, body) => {
    const order = await run(body);

    expect(order.status).toBe("succeeded success");
    expect(resultOf(order)).toBeNull();
  });

  test("R1: can read about its instance", async () => {
    const order = await run(
      "return [instance.id, instance.businessKey ?? null, instance.definition, instance.startedAt];",
      undefined,
      { as: { businessKey: "order-7" } },
    );

    const definition = { id: "workflow", version: 1 };
    expect(resultOf(order)).toEqual(["i1", "order-7", definition, "2024-01-01T00:00:00.000Z"]);
  });

  test("R1: D21: fails when its result is not JSON", async () => {
    const order = await run("return { at: [1, undefined] };");

    expect(order.status).toBe("failed failure");
    expect(order.instance.error).toMatchObject({
      name: "TypeError",
      message: "The result of workflow: at.1 is undefined, which JSON cannot hold.",
    });
  });
});

describe("a task", () => {
  test("R2: is run with its input, and its result is any JSON", async () => {
    const inputs: unknown[] = [];
    const order = await run('return [await task("charge", [input, 2])];', async (it) => {
      inputs.push(it.program.runner.taskInput(it.instance, it.task("charge")));
      await done(it, "charge", "receipt");
    });

    expect(inputs[0]).toEqual({ variables: {}, input: [{}, 2], headers: {} });
    expect(resultOf(order)).toEqual(["receipt"]);
  });

  test("R2: whose result is null gives null, and without a result its variables", async () => {
    const order = await run('return [await task("a"), await task("b")];', async (it) => {
      await done(it, "a", null);
      await it.complete("b", { amount: 3 });
    });

    expect(resultOf(order)).toEqual([null, { amount: 3 }]);
  });

  test("R2: R15: D1: is opened once, one after the other, however often its outcome comes", async () => {
    const order = await run(
      'const a = await task("a"); const b = await task("b", a); return task("c", b);',
      async (it) => {
        const { id } = it.task("a");
        const fact = { kind: "task-completed", ticket: id, variables: {}, result: 1 } as const;
        await it.deliver(fact);
        expect((await it.deliver(fact)).changed).toBe(false);
        expect((await it.deliver(fact)).changed).toBe(false);
        await done(it, "b", 2);
        await done(it, "c", 3);
      },
    );

    expect(resultOf(order)).toBe(3);
    expect(order.trail).toEqual([
      "started",
      ...["a", "b", "c"].flatMap((type) => [`element-entered ${type}`, `task-completed ${type}`]),
      "instance-ended",
    ]);
    expect(order.instance.completed).toEqual(["a", "b", "c"]);
  });

  test("R2: can be run in a loop", async () => {
    const order = await run(
      'let sum = 0; for (const n of input) sum += await task("add", n); return sum;',
      async (it) => {
        for (const n of [1, 2, 3]) await done(it, "add", n * 10);
      },
      { input: [1, 2, 3] },
    );

    expect(resultOf(order)).toBe(60);
    expect(order.instance.journal?.entries).toEqual([
      [1, BEGIN, ["add", 10]],
      [2, BEGIN, ["add", 20]],
      [3, BEGIN, ["add", 30]],
    ]);
  });

  test("R2: is found in the source by its site, and in a list of what is open", async () => {
    const order = await run('\n\nawait all([task("a"), task("a"), task("b", { x: 1 })]);');

    const { sites, tokens } = order.program.runner.view(order.instance);
    const { occurrences, places } = order.program.runner;

    expect([...(sites?.keys() ?? [])]).toEqual([1, 2, 3]);
    expect(tokens).toEqual([
      { element: "a", count: 2 },
      { element: "b", count: 1 },
    ]);
    expect(["a", "b", "c"].map((type) => occurrences(order.instance, type))).toEqual([2, 1, 0]);
    expect(places(order.instance.state)).toEqual([
      ["o", 0, 2],
      ["o", 1, 2],
      ["o", 2, 2, "x"],
    ]);
  });

  test("R2: may have no site, and a wait has no value", async () => {
    const order = await run('await event("e");', undefined, { input: 7 });
    const state = { i: 7, d: "", o: [[1, 0]] };

    const { view, places } = order.program.runner;

    expect(view({ ...order.instance, state }).sites?.size).toBe(0);
    expect(places(order.instance.state)).toEqual([["i"]]);
  });

  test.each([
    ["a function", "() => 1", "is a function"],
    ["a BigInt", "1n", "is a bigint"],
    ["a hole", "[1, , 2]", "has holes"],
    ["undefined in a list", "[undefined]", "0 is undefined"],
    ["a circle", "circle", "me contains itself"],
    ["a promise", "{ later: delay('1h') }", "later is a promise"],
    ["what turns itself into nothing", "{ toJSON: () => undefined }", "is undefined"],
  ])("R2: is refused with %s as its input, in the workflow", async (_, input, why) => {
    const order = await run(
      `const circle: any = {}; circle.me = circle;
       try { await task("a", ${input}); } catch (error: any) { return [error.name, error.message]; }`,
    );

    expect(resultOf(order)).toEqual(["TypeError", expect.stringContaining(why)]);
  });

  test("R2: takes a date as its text", async () => {
    const order = await run('await task("a", { at: new Date(0) });');

    expect(order.input("a")).toEqual({ at: "1970-01-01T00:00:00.000Z" });
  });
});

describe("a task that is not awaited", () => {
  test("R3: still runs: the instance is live until it has settled", async () => {
    const lives: string[] = [];
    const order = await run('task("audit"); task("mail"); return "ok";', async (it) => {
      lives.push(it.status, it.open.join());
      await done(it, "mail");
      lives.push(it.status, it.open.join());
      await done(it, "audit");
    });

    expect(lives.slice(0, 4)).toEqual(["live", "task audit,task mail", "live", "task audit"]);
    expect(order.status).toBe("succeeded success");
    expect(resultOf(order)).toBe("ok");
  });

  test("R3: disturbs nobody when it fails, before or after the return", async () => {
    const order = await run('task("a"); task("b"); await task("work"); return 1;', async (it) => {
      await broken(it, "a");
      await done(it, "work");
      expect(it.open).toEqual(["task b"]);
      await broken(it, "b");
    });

    expect(order.status).toBe("succeeded success");
    expect(resultOf(order)).toBe(1);
  });

  test("R3: is retried after the return", async () => {
    const order = await run('task("a"); return 1;', async (it) => {
      await it.fail("a");
      expect(it.open).toEqual(["task a"]);
      await done(it, "a");
    });

    expect(order.status).toBe("succeeded success");
  });

  test("R3: R21: keeps its timeout after the return", async () => {
    const order = await run('task("a", null, { timeout: "1h" }); return 1;', async (it) => {
      expect(it.open).toEqual(["task a", "timer a"]);
      await it.fire("a");
    });

    expect(order.status).toBe("succeeded success");
    expect(order.instance.tickets).toEqual([]);
  });

  test("R3: is all that is waited for: open waits end with the return", async () => {
    const order = await run('event("e"); delay("1h"); signal("s"); task("a"); return 1;');

    expect(order.open).toEqual(["task a"]);
    expect(order.trail.filter((line) => line.startsWith("element-terminated"))).toEqual([
      "element-terminated event:e",
      "element-terminated timer",
      "element-terminated signal:s",
    ]);
  });

  test("R3: keeps the deadline of the instance", async () => {
    const order = await run('task("a"); return 1;', (it) => it.fire("workflow"), {
      deadline: BEGIN + 1_000,
    });

    expect(order.status).toBe("failed timeout");
  });
});
