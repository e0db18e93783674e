import { describe, expect, onTestFinished, test } from "vitest";
import { createClient } from "../../../lib/client/index.ts";
import { BusinessError, type Work, worker } from "../../../lib/client/worker.ts";
import type { Json } from "../../../lib/definition/json.ts";
import { workerDoor } from "../../../lib/embedded/embedded-engine.ts";
import { type EmbeddedEngine, serveEngine } from "../../../lib/embedded/index.ts";
import { file } from "../../support/bpmn-xml.ts";
import { line, working } from "../../support/call-xml.ts";
import { anEngineWith, run } from "../../support/workflow-files.ts";

/** A worker for the type "carry" until the test ends; over HTTP, or in the engine's process. */
async function hire(engine: EmbeddedEngine, way: "HTTP" | "library", work: Work): Promise<void> {
  const client = way === "library" ? workerDoor(engine) : await overHttp(engine);
  const hired = worker("carry", work, { client, pollSeconds: 1 });
  onTestFinished(() => hired.stop({ graceMs: 0 }));
}

async function overHttp(engine: EmbeddedEngine) {
  const server = await serveEngine(engine, { port: 0 });
  onTestFinished(() => server.close());
  return createClient({ baseUrl: server.url });
}

const WAYS = ["HTTP", "library"] as const;

describe("a task type of the engine", () => {
  test("R2 is run by the same handler for BPMN and for a workflow in code", async () => {
    const seen: Json[] = [];
    const engine = await anEngineWith("return task('carry', { from: 'code' });", {
      tasks: { carry: (input: { from: string }) => seen.push(input.from) && { carried: true } },
    });
    await engine.deploy(file(line("drawn", [working("carry")])));

    const drawn = await engine.start("drawn", { variables: { from: "BPMN" } });
    const { result } = await run(engine);

    expect((await engine.result(drawn.instanceId)).variables).toMatchObject({ carried: true });
    expect(result).toEqual({ carried: true });
    expect(seen.toSorted()).toEqual(["BPMN", "code"]);
  });
});

describe("a worker of a workflow in code", () => {
  test.each(WAYS)("R2 gets any JSON as input and brings any JSON, by %s", async (way) => {
    const given: Json[] = [null, 5, "text", [1, [2]], { "not-a-name": true }];
    const engine = await anEngineWith(
      "const got: any[] = []; for (const one of input) got.push(await task('carry', one)); return got;",
    );
    await hire(engine, way, ({ input }) => input);

    const { instanceId } = await engine.start("w", { input: given });

    expect((await engine.result(instanceId)).result).toEqual(given);
  });

  test("brings null when its function returns nothing", async () => {
    const engine = await anEngineWith("return [await task('carry', 1)];");
    await hire(engine, "library", () => undefined);

    const { instanceId } = await engine.start("w");

    expect((await engine.result(instanceId)).result).toEqual([null]);
  });

  test("R12 throws its business error into the workflow", async () => {
    const engine = await anEngineWith(
      "try { await task('carry'); } catch (error: any) { return [error.name, error.code, error.message]; }",
    );
    await hire(engine, "library", () => {
      throw new BusinessError("HEAVY", "too heavy");
    });

    const { instanceId } = await engine.start("w");

    expect((await engine.result(instanceId)).result).toEqual(["TaskFailed", "HEAVY", "too heavy"]);
  });

  test("R21 uses up an attempt with what is no JSON", async () => {
    const engine = await anEngineWith(
      "try { await task('carry', 1, { retry: { maxAttempts: 1 } }); } catch (error: any) { return error.message; }",
    );
    await hire(engine, "library", () => 1n);

    const { instanceId } = await engine.start("w");

    expect((await engine.result(instanceId)).result).toMatch(/BigInt/);
  });

  test("is shown the input of its task, with the variables that it holds", async () => {
    const engine = await anEngineWith("await task('carry', input);");
    await run(engine, { total: 42 });

    const poll = { type: "carry", max: 1, lockSeconds: 30, worker: "anna" };
    const { tasks } = await engine.activate(poll);

    expect(tasks).toMatchObject([{ input: { total: 42 }, variables: { total: 42 }, attempt: 1 }]);
  });

  test("of BPMN cannot bring a result, and its instance takes no input", async () => {
    const engine = await anEngineWith("return 1;");
    await engine.deploy(file(line("outside", [working("carry")])));
    const { instanceId } = await engine.start("outside");
    const [open] = (await engine.tasks({ instanceId })).items;

    const completed = engine.complete(open?.taskId ?? "", { result: 5 });
    const started = engine.start("outside", { input: 5 });

    await expect(completed).rejects.toMatchObject({ code: "definition/notation-differs" });
    await expect(started).rejects.toMatchObject({ code: "definition/notation-differs" });
    expect((await engine.get(instanceId)).status).toBe("suspended");
  });
});
