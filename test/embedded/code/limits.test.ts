import { describe, expect, test } from "vitest";
import type { Json } from "../../../lib/definition/json.ts";
import { anEngineWith, run } from "../../support/workflow-files.ts";

const only = <T>([first, ...others]: readonly T[]): T => {
  if (first === undefined || others.length > 0) throw new Error("there is not exactly one");
  return first;
};

describe("the limits of a workflow in code", () => {
  test.each([
    ["an endless loop", "for (;;);"],
    ["endless promises", "for (;;) await null;"],
    ["too many operations", "for (let n = 0; n < 3_000; n++) publishSignal('x');"],
    ["operations without end", "for (;;) publishSignal('x');"],
    ["endless memory", "const all = []; for (;;) all.push('x'.repeat(100_000) + all.length);"],
  ])("R23 stop %s with an incident, and others go on", async (_, endless) => {
    const engine = await anEngineWith(`if (input === "endless") { await event("go"); ${endless} }
      return "fine";`);
    const { instanceId } = await run(engine, "endless");

    await engine.event({ name: "go", target: instanceId });
    await engine.idle();
    const { status, incidents, result } = await engine.get(instanceId);

    expect({ status, result }).toEqual({ status: "suspended", result: undefined });
    expect(incidents).toMatchObject([{ type: "STEP_LIMIT", message: expect.any(String) }]);
    expect((await run(engine)).result).toBe("fine");
    expect(await engine.cancel(instanceId)).toEqual({ cancelled: true });
  });

  test("R23 stop an endless loop in the first step, where there is nothing to wait for yet", async () => {
    const engine = await anEngineWith("for (;;);");

    const { status, incidents } = await run(engine);

    expect(status).toBe("suspended");
    expect(incidents).toMatchObject([{ type: "STEP_LIMIT" }]);
  });

  test("R9 R23 stop an endless loop of timers that are due at once", async () => {
    const engine = await anEngineWith("for (let n = 0; ; n++) await delay('0s');");

    const { instanceId, status, incidents } = await run(engine);

    expect(status).toBe("suspended");
    expect(incidents).toMatchObject([
      {
        type: "STEP_LIMIT",
        message: expect.stringMatching(
          /10000 operations.* Divide the work among several instances\./,
        ),
      },
    ]);
    expect(await engine.cancel(instanceId)).toEqual({ cancelled: true });
  });

  test("R23 let 256 operations be open, and throw a RangeError at the next", async () => {
    const engine = await anEngineWith(
      `const open = Array.from({ length: 256 }, () => delay("1h"));
       try { delay("1h"); } catch (error) { return [open.length, (error as Error).name]; }`,
    );

    expect((await run(engine)).result).toEqual([256, "RangeError"]);
  });

  test("R23 let 256 operations be open beside their timeouts and a deadline", async () => {
    const engine = await anEngineWith(
      `const open: Promise<unknown>[] = [];
       for (;;) {
         try { open.push(task("type" + open.length, null, { timeout: "1h" })); }
         catch (error) { throw new Error(open.length + " and a " + (error as Error).name); }
         if (open.length < 256) await delay("0s");
       }`,
    );
    const { instanceId } = await engine.start("w", { deadline: "P1D" });
    await engine.idle();

    const { status, error } = await engine.get(instanceId);

    expect({ status, error }).toMatchObject({
      status: "failed",
      error: { message: "256 and a RangeError" },
    });
  });

  test("R23 take 30 waits a step, and throw a RangeError at the next", async () => {
    const engine = await anEngineWith(
      `const open = Array.from({ length: 30 }, (_, n) => event("e" + n));
       try { event("more"); } catch (error) { return [open.length, (error as Error).name]; }`,
    );

    expect((await run(engine)).result).toEqual([30, "RangeError"]);
  });

  test("R23 D22 take a state of 2 MB in values, and give it back whole", async () => {
    const engine = await anEngineWith(
      `const parts: string[] = [];
       for (let n = 0; n < 10; n++) parts.push(await task("big", n));
       await event("go");
       return parts.map((part) => part.length);`,
      { tasks: { big: (n: number) => String(n).repeat(200_000) } },
    );
    const { instanceId } = await run(engine);

    await engine.event({ name: "go", target: instanceId });

    expect((await engine.get(instanceId)).result).toEqual(Array(10).fill(200_000));
  });

  test("R23 D22 take the inputs of 250 open tasks, 1 MB in all, and go on with their results", async () => {
    const body = `const open = Array.from({ length: 250 }, (_, n) =>
        task("type" + n, { n, text: "x".repeat(4_000) }));
      const done: number[] = await all(open as Promise<number>[]);
      return done.reduce((sum, n) => sum + n);`;
    const seen: number[] = [];
    const echo = ({ n, text }: { n: number; text: string }) => seen.push(text.length) && n;
    const tasks = Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`type${n}`, echo]));
    const engine = await anEngineWith(body, { tasks });

    const { status, result } = await run(engine);

    expect({ status, result }).toEqual({ status: "succeeded", result: (250 * 249) / 2 });
    expect(seen).toEqual(Array(250).fill(4_000));
  });

  test("D22 refuse open inputs beyond the limit of an instance as an incident", async () => {
    const engine = await anEngineWith(
      `await task("go");
       await all(Array.from({ length: 250 }, (_, n) => task("type" + n, "x".repeat(12_000))));`,
      { tasks: { go: () => null } },
    );

    const { instanceId, incidents, status } = await run(engine);

    expect(status).toBe("suspended");
    expect(incidents).toMatchObject([{ type: "STATE_TOO_LARGE", element: "go" }]);
    expect(await engine.cancel(instanceId)).toEqual({ cancelled: true });
  });

  test("D22 take a result of a task beyond 400 KB, and return one", async () => {
    const engine = await anEngineWith("return task('big', null);", {
      tasks: { big: () => "x".repeat(600_000) },
    });

    const { status, result } = await run(engine);

    expect(status).toBe("succeeded");
    expect(result).toHaveLength(600_000);
  });

  test("D22 refuse what is too large as an incident; resolving it runs the task again", async () => {
    let length = 2_600_000;
    const runs: Json[] = [];
    const engine = await anEngineWith("const text = await task('big', null); return text.length;", {
      tasks: { big: () => runs.push(length) && "x".repeat(length) },
    });
    const { instanceId, incidents, status } = await run(engine);

    length = 10;
    await engine.resolveIncident(instanceId, only(incidents).incidentId, {});
    await engine.idle();

    expect(status).toBe("suspended");
    expect(incidents).toMatchObject([{ type: "STATE_TOO_LARGE", element: "big" }]);
    expect(await engine.get(instanceId)).toMatchObject({ status: "succeeded", result: 10 });
    expect(runs).toEqual([2_600_000, 10]);
  });
});
