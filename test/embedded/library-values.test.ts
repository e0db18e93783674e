import { describe, expect, test } from "vitest";
import { MAX_VALUES_BYTES } from "../../lib/definition/limits.ts";
import {
  end,
  extensions,
  file,
  flow,
  job,
  process,
  sequence,
  start,
  xml,
} from "../support/bpmn-xml.ts";
import { aDataDir, anEngine } from "../support/embedded.ts";

/** Two of these are more than an instance may have. */
const HALF = "x".repeat(MAX_VALUES_BYTES / 2);

const task = (id: string) => xml("serviceTask", { id }, extensions(job(id)));

describe("a value passed to the library", () => {
  test("is copied: a caller's later changes reach neither memory nor disk", async () => {
    const dataDir = aDataDir();
    const engine = await anEngine({ dataDir, source: sequence(task("work")) });
    const given = { order: { n: 1 } };
    const { instanceId } = await engine.start("p", { variables: given });

    given.order.n = 2;
    Object.assign((await engine.get(instanceId)).variables.order ?? {}, { n: 3 });
    const [open] = (await engine.tasks()).items;
    Object.assign(open?.variables.order ?? {}, { n: 4 });
    const seen = await engine.get(instanceId);
    await engine.complete(open?.taskId ?? "", { variables: { done: true } });
    await engine.close();
    const after = await anEngine({ dataDir });

    expect(seen.variables).toEqual({ order: { n: 1 } });
    expect((await after.get(instanceId)).variables).toEqual({ order: { n: 1 }, done: true });
  });
});

describe("a completion that would make the instance too large", () => {
  test("is refused, and the task stays open", async () => {
    const engine = await anEngine({ source: sequence(task("work")) });
    const { instanceId } = await engine.start("p", { variables: { a: HALF } });
    const [open] = (await engine.tasks()).items;
    const taskId = open?.taskId ?? "";

    const tooMuch = engine.complete(taskId, { variables: { b: HALF } });
    await expect(tooMuch).rejects.toMatchObject({ code: "request/body-too-large" });

    expect((await engine.get(instanceId)).incidents).toEqual([]);
    await engine.complete(taskId, { variables: { b: "small" } });
    expect((await engine.get(instanceId)).status).toBe("succeeded");
  });

  test("of a handler is an incident, which smaller variables can resolve", async () => {
    let size = HALF.length;
    const engine = await anEngine({
      source: sequence(task("work")),
      tasks: { work: () => ({ b: "x".repeat(size) }) },
    });
    const { instanceId } = await engine.start("p", { variables: { a: HALF } });
    await engine.idle();
    const { incidents } = await engine.get(instanceId);

    size = 10;
    await engine.resolveIncident(instanceId, incidents[0]?.incidentId ?? "", {
      variables: { a: "small" },
    });

    expect(incidents).toMatchObject([{ type: "STATE_TOO_LARGE", element: "work" }]);
    expect((await engine.result(instanceId)).variables).toEqual({ a: "small", b: "x".repeat(10) });
  });
});

describe("many concurrent calls on one instance", () => {
  test("all succeed: fifty branches completed together", async () => {
    const ids = Array.from({ length: 50 }, (_, n) => `t${n}`);
    const source = file(
      process(
        start(),
        ...ids.map(task),
        xml("parallelGateway", { id: "join" }),
        end(),
        ...ids.flatMap((id) => [flow(`to-${id}`, "start", id), flow(`of-${id}`, id, "join")]),
        flow("out", "join", "end"),
      ),
    );
    const engine = await anEngine({ source });
    const { instanceId } = await engine.start("p");
    const open = await engine.tasks({ instanceId, limit: 200 });

    await Promise.all(
      open.items.map(({ taskId, element }) =>
        engine.complete(taskId, { variables: { [element]: true } }),
      ),
    );

    const { variables } = await engine.result(instanceId);
    expect(Object.keys(variables).sort()).toEqual([...ids].sort());
  });
});

describe("a handler's result", () => {
  test("whose names no expression could read fails the attempt", async () => {
    const engine = await anEngine({
      source: sequence(task("work")),
      tasks: { work: () => ({ "a-b": 1 }) },
    });
    const { instanceId } = await engine.start("p");
    await engine.idle();

    expect((await engine.get(instanceId)).incidents).toMatchObject([
      { type: "JOB_NO_RETRIES", message: expect.stringContaining('"a-b"') },
    ]);
  });
});
