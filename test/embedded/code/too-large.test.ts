import { describe, expect, test } from "vitest";
import type { EmbeddedEngine } from "../../../lib/embedded/index.ts";
import { anEngineWith, run } from "../../support/workflow-files.ts";

const UPLOAD = 'task("upload", "x".repeat(2_600_000))';

/** A workflow whose next operation is too large, once what it waits for has come. */
const after = (wait: string) => `const got = await ${wait}; await ${UPLOAD}; return got;`;

const seen = async (engine: EmbeddedEngine, instanceId: string) => {
  await engine.idle();
  const { status, incidents } = await engine.get(instanceId);
  return { status, incidents };
};

const NAMES_IT = {
  status: "suspended",
  incidents: [
    {
      type: "STATE_TOO_LARGE",
      message: expect.stringMatching(
        /The largest new value is the input of operation 2, upload, with 2600002 bytes;/,
      ),
      at: { file: "w.ts", line: 3 },
    },
  ],
};

describe("R23 D22 an operation that would make the instance too large", () => {
  test.each([
    ["an event", 'event("go")', "delivered"],
    ["an event of its inbox", 'event("go", { from: "inbox" })', "delivered"],
  ])("is an incident that names it, and not the fault of %s", async (_, wait, outcome) => {
    const engine = await anEngineWith(after(wait));
    const { instanceId } = await run(engine);

    const answer = await engine.event({ name: "go", target: instanceId, payload: { by: "me" } });

    expect(answer).toMatchObject({ outcome });
    expect(await seen(engine, instanceId)).toMatchObject(NAMES_IT);
  });

  test("keeps the event: resolved without room, the incident is back with it", async () => {
    const engine = await anEngineWith(
      `const ballast = task("ballast", "y".repeat(1_000_000));
       const got = await event("go");
       await task("upload", "x".repeat(1_600_000));
       return [got, await ballast];`,
      { tasks: { upload: () => "up" } },
    );
    const { instanceId } = await run(engine);
    await engine.event({ name: "go", target: instanceId, payload: { by: "me" } });
    const resolve = async () => {
      const [incident] = (await engine.get(instanceId)).incidents;
      await engine.resolveIncident(instanceId, incident?.incidentId ?? "");
      return seen(engine, instanceId);
    };

    const again = await resolve();
    const { items } = await engine.tasks({ instanceId });
    await engine.complete(items[0]?.taskId ?? "", { result: "done" });
    await resolve();

    expect(again).toMatchObject({ incidents: [{ type: "STATE_TOO_LARGE" }] });
    expect(await engine.get(instanceId)).toMatchObject({
      status: "succeeded",
      result: [{ by: "me" }, "done"],
    });
  });

  test("is not the fault of a broadcast event, a message or a signal", async () => {
    const engine = await anEngineWith(
      `const waits = { event: () => event("go"), message: () => message("go", "k"), signal: () => signal("go") };
       const got = await waits[input as "event"](); await ${UPLOAD}; return got;`,
    );
    const ids: string[] = [];
    for (const kind of ["event", "message", "signal"])
      ids.push((await run(engine, kind)).instanceId);

    const answers = [
      await engine.event({ name: "go" }),
      await engine.message({ name: "go", correlationKey: "k" }),
      await engine.signal("go"),
    ];

    expect(answers).toMatchObject([
      { outcome: "delivered", deliveredCount: 1 },
      { outcome: "delivered", instanceId: ids[1] },
      { deliveredCount: 0 },
    ]);
    for (const id of ids) {
      expect(await seen(engine, id)).toMatchObject({
        ...NAMES_IT,
        incidents: [{ ...NAMES_IT.incidents[0], at: { line: 4 } }],
      });
    }
  });

  test("is not the fault of a timer, nor of the result of a worker", async () => {
    const engine = await anEngineWith(
      `if (input === "timer") await delay("1h"); else await task("small"); await ${UPLOAD};`,
    );
    const timed = await run(engine, "timer");
    const worked = await run(engine, "worker");

    await engine.advanceClock("PT1H");
    const { items } = await engine.tasks({ instanceId: worked.instanceId });
    const answer = await engine.complete(items[0]?.taskId ?? "", { result: 1 });

    expect(answer).toEqual({ completed: true });
    for (const { instanceId } of [timed, worked]) {
      expect(await seen(engine, instanceId)).toMatchObject(NAMES_IT);
    }
  });

  test("leaves the other operations of the instance at work", async () => {
    const engine = await anEngineWith(
      `event("go").then(() => ${UPLOAD});
       await delay("1h");
       return "done";`,
    );
    const { instanceId } = await run(engine);
    await engine.event({ name: "go", target: instanceId });

    await engine.advanceClock("PT1H");

    expect((await engine.history(instanceId)).items.map(({ type }) => type)).toContain("timer-due");
  });

  test("is refused to the worker whose own result is too large", async () => {
    const engine = await anEngineWith('return task("small");');
    const { instanceId } = await run(engine);
    const { items } = await engine.tasks({ instanceId });

    const completed = engine.complete(items[0]?.taskId ?? "", {
      result: "x".repeat(2_600_000),
    });

    await expect(completed).rejects.toMatchObject({ code: "request/body-too-large" });
    expect((await seen(engine, instanceId)).incidents).toEqual([]);
  });
});

describe("R23 D22 a start that would be too large", () => {
  test.each([
    [`await ${UPLOAD};`, "the input of operation 1, upload, with 2600002 bytes"],
    ['return "x".repeat(2_600_000);', "the result of the workflow, with 2600002 bytes"],
  ])("says what makes it so: %s", async (body, what) => {
    const engine = await anEngineWith(body);

    await expect(run(engine)).rejects.toMatchObject({
      code: "request/body-too-large",
      message: expect.stringContaining(`The largest new value is ${what}`),
    });
    expect((await engine.list()).items).toEqual([]);
  });

  test("says that its input is too large", async () => {
    const engine = await anEngineWith('await event("go");');

    await expect(run(engine, "x".repeat(2_600_000))).rejects.toMatchObject({
      code: "request/body-too-large",
      message: expect.stringContaining("the input of the workflow, with 2600002 bytes"),
    });
  });
});
