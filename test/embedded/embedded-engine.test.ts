import { describe, expect, test } from "vitest";
import type { Variables } from "../../lib/definition/json.ts";
import type { EmbeddedEngine } from "../../lib/embedded/index.ts";
import { sequence, service } from "../support/bpmn-xml.ts";
import { anEngine } from "../support/embedded.ts";

const source = sequence(service("work"));

/** What plain JavaScript may pass, whatever the types say. */
const asVariables = (value: unknown): Variables => value as Variables;

const circle: Record<string, unknown> = { name: "round" };
circle.self = circle;

const NOT_JSON: readonly (readonly [string, unknown, RegExp])[] = [
  ["a bigint", { order: { total: 1n } }, /^variables\.order\.total$/],
  ["a function", { f: () => 1 }, /^variables\.f$/],
  ["undefined inside", { a: [1, undefined] }, /^variables\.a\.1$/],
  ["a date", { at: new Date(0) }, /^variables\.at$/],
  ["not a number", { n: Number.NaN }, /^variables\.n$/],
  ["a circle", { circle }, /^variables\.circle\.self$/],
  ["a list", [1], /^variables$/],
  ["a text", "a", /^variables$/],
  ["a name with a dash", { "a-b": 1 }, /^variables\.a-b$/],
  ["a keyword", { in: 1 }, /^variables\.in$/],
];

async function expectRefused(call: Promise<unknown>, path: RegExp) {
  await expect(call).rejects.toMatchObject({
    name: "EngineError",
    code: "request/invalid",
    details: [{ path: expect.stringMatching(path), message: expect.any(String) }],
  });
}

async function aTask(engine: EmbeddedEngine): Promise<string> {
  await engine.start("p", { instanceId: "one" });
  return (await engine.tasks()).items[0]?.taskId ?? "";
}

describe("the library API", () => {
  test.each(NOT_JSON)("refuses %s among the variables of a start", async (_, variables, path) => {
    const engine = await anEngine({ source });

    await expectRefused(engine.start("p", { variables: asVariables(variables) }), path);

    expect((await engine.list()).items).toEqual([]);
  });

  test("refuses them in a completion, a failure and the resolution of an incident", async () => {
    const engine = await anEngine({ source });
    const taskId = await aTask(engine);
    const variables = asVariables({ a: { b: 1n } });

    await expectRefused(engine.complete(taskId, { variables }), /^variables\.a\.b$/);
    await expectRefused(engine.fail(taskId, { message: "no", variables }), /^variables\.a\.b$/);
    await engine.fail(taskId, { message: "no", retries: 0 });
    const { incidents } = await engine.get("one");
    const incidentId = incidents[0]?.incidentId ?? "";
    const resolved = engine.resolveIncident("one", incidentId, { variables });
    await expectRefused(resolved, /^variables\.a\.b$/);

    expect((await engine.get("one")).incidents).toHaveLength(1);
  });

  test.each(["", "a b", "a/b", "a.b", "ü", "x".repeat(65)])(
    "refuses the instance id %j",
    async (instanceId) => {
      const engine = await anEngine({ source });

      await expectRefused(engine.start("p", { instanceId }), /^instanceId$/);
    },
  );

  test("accepts every character that an id may contain", async () => {
    const engine = await anEngine({ source });
    const instanceId = "Az09_-".padEnd(64, "x");

    await engine.start("p", { instanceId });

    const { items } = await engine.tasks();
    await engine.complete(items[0]?.taskId ?? "");
    expect(await engine.get(instanceId)).toMatchObject({ status: "succeeded" });
  });

  test.each([0, -1, 1.5, 201, Number.NaN])("refuses pages of %d items", async (limit) => {
    const engine = await anEngine({ source });
    await engine.start("p", { instanceId: "one" });

    await expectRefused(engine.list({ limit }), /^limit$/);
    await expectRefused(engine.definitions({ limit }), /^limit$/);
    await expectRefused(engine.versions("p", { limit }), /^limit$/);
    await expectRefused(engine.tasks({ limit }), /^limit$/);
    await expectRefused(engine.history("one", { limit }), /^limit$/);
  });

  test.each([1, 200])("gives pages of %d items", async (limit) => {
    const engine = await anEngine({ source });
    await engine.start("p", { instanceId: "one" });

    expect((await engine.list({ limit })).items).toHaveLength(1);
    expect((await engine.tasks({ limit })).items).toHaveLength(1);
  });
});
