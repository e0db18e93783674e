import { describe, expect, test } from "vitest";
import type { EmbeddedEngine } from "../../../lib/embedded/index.ts";
import { aDataDir, anEngine } from "../../support/embedded.ts";
import { aWorkflow, bundleOf, run, workflowsIn } from "../../support/workflow-files.ts";

const deploy = async (engine: EmbeddedEngine, body: string) =>
  engine.deploy({ notation: "code", source: await bundleOf(aWorkflow(body)) });

const OLD = "await event('go'); return 'old';";
const NEW = "const got = await event('go'); return ['new', got];";

const go = (engine: EmbeddedEngine, target: string) => engine.event({ name: "go", target });

describe("deploying another text of a workflow in code", () => {
  test("R18 resumes what was suspended with the old code, and starts the new", async () => {
    const engine = await anEngine();
    await deploy(engine, OLD);
    const old = await run(engine);

    const deployed = await deploy(engine, NEW);
    const young = await run(engine);
    for (const { instanceId } of [old, young]) await go(engine, instanceId);

    expect(deployed).toMatchObject({ created: true, definitions: [{ id: "w", version: 2 }] });
    expect(await engine.get(old.instanceId)).toMatchObject({
      definition: { version: 1 },
      result: "old",
    });
    expect(await engine.get(young.instanceId)).toMatchObject({
      definition: { version: 2 },
      result: ["new", null],
    });
  });

  test("R18 does so after a restart, when the old code is loaded again", async () => {
    const dataDir = aDataDir();
    const before = await anEngine({ dataDir });
    await deploy(before, OLD);
    const { instanceId } = await run(before);
    await deploy(before, NEW);
    await before.close({ graceMs: 0 });

    const engine = await anEngine({ dataDir });
    await go(engine, instanceId);

    expect((await engine.get(instanceId)).result).toBe("old");
  });

  test("R18 does so when the engine opens again with a file that was changed meanwhile", async () => {
    const dataDir = aDataDir();
    const opened = (body: string) =>
      anEngine({ dataDir, workflows: workflowsIn({ "w.ts": aWorkflow(body) }) });
    const before = await opened(OLD);
    const old = await run(before);
    await before.close({ graceMs: 0 });

    const engine = await opened(NEW);
    const young = await run(engine);
    for (const { instanceId } of [old, young]) await go(engine, instanceId);

    expect((await engine.get(old.instanceId)).result).toBe("old");
    expect((await engine.get(young.instanceId)).result).toEqual(["new", null]);
  });

  test("R18 rolls back with the old text: a new version number with the old code", async () => {
    const engine = await anEngine();
    await deploy(engine, OLD);
    await deploy(engine, NEW);
    const between = await run(engine);

    const back = await deploy(engine, OLD);
    const after = await run(engine);
    for (const { instanceId } of [between, after]) await go(engine, instanceId);

    expect(back).toMatchObject({ created: true, definitions: [{ version: 3 }] });
    expect((await engine.get(between.instanceId)).result).toEqual(["new", null]);
    expect(await engine.get(after.instanceId)).toMatchObject({
      definition: { version: 3 },
      result: "old",
    });
  });

  test("R18 starts an older version when it is asked for by number", async () => {
    const engine = await anEngine();
    await deploy(engine, OLD);
    await deploy(engine, NEW);

    const { instanceId } = await engine.start("w", { version: 1 });
    await go(engine, instanceId);

    expect((await engine.get(instanceId)).result).toBe("old");
  });

  test("stores nothing when the text is the same", async () => {
    const engine = await anEngine();

    const answers = [await deploy(engine, OLD), await deploy(engine, OLD)];

    expect(answers).toMatchObject([
      { created: true, definitions: [{ version: 1 }] },
      { created: false, definitions: [{ version: 1 }] },
    ]);
  });

  test("keeps a workflow that is disabled from starting", async () => {
    const engine = await anEngine();
    await deploy(engine, OLD);

    await engine.disable("w");

    await expect(engine.start("w")).rejects.toMatchObject({ code: "definition/disabled" });
  });
});

describe("starting a workflow in code under a key", () => {
  test.each([
    ["is running", "await event('go');", "suspended"],
    ["has succeeded", "return input;", "succeeded"],
    ["has failed", "throw new Error('no');", "failed"],
  ])("R22 returns the same run again, which %s", async (_, body, status) => {
    const engine = await anEngine();
    await deploy(engine, body);

    const first = await engine.start("w", { input: [1] }, "key");
    await engine.idle();
    const again = await engine.start("w", { input: [1] }, "key");

    expect(again.instanceId).toBe(first.instanceId);
    expect((await engine.get(first.instanceId)).status).toBe(status);
    expect((await engine.list()).items).toHaveLength(1);
  });

  test("R22 returns the same run again when it was cancelled", async () => {
    const engine = await anEngine();
    await deploy(engine, "await event('go');");
    const first = await engine.start("w", {}, "key");
    await engine.cancel(first.instanceId);

    const again = await engine.start("w", {}, "key");

    expect(again.instanceId).toBe(first.instanceId);
    expect((await engine.get(first.instanceId)).status).toBe("cancelled");
  });

  test("R22 returns the same run again when its deadline has ended it", async () => {
    const engine = await anEngine();
    await deploy(engine, "await event('go');");
    const first = await engine.start("w", { deadline: "PT1H" }, "key");
    await engine.advanceClock("PT1H");

    const again = await engine.start("w", { deadline: "PT1H" }, "key");

    expect(again.instanceId).toBe(first.instanceId);
    expect(await engine.get(first.instanceId)).toMatchObject({
      status: "failed",
      terminationKind: "timeout",
    });
    expect((await engine.list()).items).toHaveLength(1);
  });

  test("R22 starts another run under another key, and refuses another input under the same", async () => {
    const engine = await anEngine();
    await deploy(engine, "return input;");
    const first = await engine.start("w", { input: 1 }, "one");

    const other = await engine.start("w", { input: 1 }, "two");
    const conflict = engine.start("w", { input: 2 }, "one");

    expect(other.instanceId).not.toBe(first.instanceId);
    await expect(conflict).rejects.toMatchObject({ code: "request/key-reused" });
  });

  test("D15 returns the same run for the same instance id, and refuses another input", async () => {
    const engine = await anEngine();
    await deploy(engine, "return input;");
    await engine.start("w", { instanceId: "mine", input: 1 });

    const again = await engine.start("w", { instanceId: "mine", input: 1 });
    const conflict = engine.start("w", { instanceId: "mine", input: 2 });

    expect(again.instanceId).toBe("mine");
    await expect(conflict).rejects.toMatchObject({ code: "instance/id-taken" });
  });
});
