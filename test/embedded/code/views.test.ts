import { describe, expect, test } from "vitest";
import { anEngine } from "../../support/embedded.ts";
import { anEngineWith, run, workflowsIn } from "../../support/workflow-files.ts";

const place = (line: number) => ({ file: "w.ts", line, column: expect.any(Number) });

describe("what an operator sees of a workflow in code", () => {
  test("S5 every open operation, with the line that called it and the call that wakes it", async () => {
    const engine = await anEngineWith(`await all([
      task("by-hand", 1),
      delay("1h"),
      event("go"),
      signal("opened"),
      message("paid", "order 7"),
    ]);`);

    const { instanceId, waits, status, activeElements } = await run(engine);

    expect(status).toBe("suspended");
    expect(activeElements).toEqual([
      "by-hand",
      "timer",
      "event:go",
      "signal:opened",
      "message:paid",
    ]);
    expect(waits).toMatchObject([
      {
        kind: "task",
        element: "by-hand",
        taskType: "by-hand",
        at: place(4),
        wakeWith: { path: expect.stringContaining("/complete") },
      },
      {
        kind: "timer",
        element: "timer",
        at: place(5),
        dueAt: expect.any(String),
        wakeWith: { path: expect.stringContaining("clock") },
      },
      {
        kind: "event",
        name: "go",
        at: place(6),
        wakeWith: { path: "/v1/events", body: { target: instanceId } },
      },
      { kind: "signal", name: "opened", at: place(7), wakeWith: { path: "/v1/signals" } },
      {
        kind: "message",
        name: "paid",
        correlationKey: "order 7",
        at: place(8),
        wakeWith: { path: "/v1/messages" },
      },
    ]);
    expect((await engine.waits(instanceId)).items).toEqual(waits);
  });

  test("S5 each wait ends with the very call that it names", async () => {
    const engine = await anEngineWith(
      "return all([event('go'), signal('opened'), message('paid', 'k')]);",
    );
    const { instanceId, waits } = await run(engine);

    for (const { wakeWith } of waits) {
      const { path, body } = wakeWith as unknown as { path: string; body: never };
      if (path === "/v1/events") await engine.event(body);
      else if (path === "/v1/messages") await engine.message(body);
      else await engine.signal((body as { name: string }).name);
    }

    expect((await engine.get(instanceId)).status).toBe("succeeded");
  });

  test("S5 a place in the file that a helper comes from", async () => {
    const engine = await anEngine({
      workflows: workflowsIn({
        "w.ts": `import { wait } from "./lib/wait.ts";
          export const w = workflow("w", async () => { await wait(); });`,
        "lib/wait.ts": "\nexport const wait = async () => {\n  await event('go');\n};",
      }),
    });

    const { waits } = await run(engine);

    expect(waits).toMatchObject([{ at: { file: "lib/wait.ts", line: 4, column: 9 } }]);
  });

  test("S5 a batch of like tasks as one wait, with how many are open", async () => {
    const engine = await anEngineWith(
      "await all(Array.from({ length: 20 }, (_, n) => task('by-hand', n)));",
    );
    const { instanceId } = await run(engine);
    const [open] = (await engine.tasks({ instanceId })).items;
    await engine.complete(open?.taskId ?? "", { result: 1 });

    const { waits } = await engine.get(instanceId);

    expect(waits).toMatchObject([
      { kind: "task", taskType: "by-hand", members: { size: 20, open: 19 }, at: place(3) },
    ]);
  });

  test("history by the names of operations, with the occurrence of each", async () => {
    const engine = await anEngineWith(
      "await task('echo', 1); await task('echo', 2); await event('go'); await race([delay('1h'), event('stop')]);",
      { tasks: { echo: (input: number) => input } },
    );
    const { instanceId } = await run(engine);
    for (const name of ["go", "stop"]) await engine.event({ name, target: instanceId });

    const { items } = await engine.history(instanceId);

    expect(items.map(({ type, element, occurrence }) => [type, element, occurrence])).toEqual([
      ["started", undefined, undefined],
      ["element-entered", "echo", 1],
      ["task-completed", "echo", 1],
      ["element-entered", "echo", 2],
      ["task-completed", "echo", 2],
      ["element-entered", "event:go", 3],
      ["event-received", "event:go", 3],
      ["element-entered", "timer", 4],
      ["element-entered", "event:stop", 5],
      ["event-received", "event:stop", 5],
      ["element-terminated", "timer", 4],
      ["instance-ended", undefined, undefined],
    ]);
  });

  test("failed attempts in the history, with their messages", async () => {
    const engine = await anEngineWith(
      "await task('fails', 1, { retry: { maxAttempts: 2, backoff: '1s' } });",
      {
        tasks: {
          fails: () => {
            throw new Error("no answer");
          },
        },
      },
    );
    const { instanceId } = await run(engine);
    await engine.advanceClock("PT1S");

    const { items } = await engine.history(instanceId);

    expect(items.filter(({ type }) => type === "task-failed")).toMatchObject([
      { element: "fails", occurrence: 1, data: { attempt: 1, message: "no answer" } },
      { element: "fails", occurrence: 1, data: { attempt: 2, message: "no answer" } },
    ]);
  });

  test("S5 an incident of a task, with the line that called it and the call that resolves it", async () => {
    const engine = await anEngineWith("const n = await task('work');\nfor (;;);", {
      tasks: { work: () => 1 },
    });

    const { instanceId, waits, incidents } = await run(engine);

    expect(incidents).toMatchObject([{ type: "STEP_LIMIT", element: "work" }]);
    const path = `/v1/instances/${instanceId}/incidents/${incidents[0]?.incidentId}/resolve`;
    expect(waits).toMatchObject([
      { kind: "incident", element: "work", at: place(3), wakeWith: { path } },
    ]);
  });

  test("an incident of a workflow that waits for nothing", async () => {
    const engine = await anEngineWith("await new Promise(() => {});");

    const { status, incidents } = await run(engine);

    expect(status).toBe("suspended");
    expect(incidents).toMatchObject([
      { type: "DEADLOCK", message: expect.stringContaining("no operation will ever settle") },
    ]);
  });

  test("F3 the elements that are completed, and the list by definition and status", async () => {
    const engine = await anEngineWith("await task('echo', 1); await event('go');", {
      tasks: { echo: (input: number) => input },
    });
    const { instanceId, completedElements } = await run(engine);

    const { items } = await engine.list({ definition: "w", status: "suspended" });

    expect(completedElements).toEqual(["echo"]);
    expect(items).toMatchObject([{ instanceId }]);
  });
});
