import { describe, expect, onTestFinished, test } from "vitest";
import type { Json } from "../../../lib/definition/json.ts";
import { type EmbeddedEngine, serveEngine } from "../../../lib/embedded/index.ts";
import { type CheckedApi, checkedApi, sendTo } from "../../support/api-client.ts";
import { file } from "../../support/bpmn-xml.ts";
import { line, working } from "../../support/call-xml.ts";
import { anEngine } from "../../support/embedded.ts";
import { anEngineWith, aWorkflow, bundleOf, run } from "../../support/workflow-files.ts";

/** The API of an engine, every response checked against its document. */
async function served(engine: EmbeddedEngine, acceptCode = true): Promise<CheckedApi> {
  const server = await serveEngine(engine, { port: 0, acceptCode });
  onTestFinished(() => server.close());
  return checkedApi(sendTo(server.url));
}

const JAVASCRIPT = { "content-type": "application/javascript" };
const deploy = (api: CheckedApi, body: string, headers: Record<string, string> = JAVASCRIPT) =>
  api("POST", "/v1/definitions:code", { body, headers });

describe("the call that deploys workflows in code", () => {
  test("is refused unless the server was started to take code", async () => {
    const api = await served(await anEngine(), false);
    const bundle = await bundleOf(aWorkflow("return 1;"));

    const deployed = await deploy(api, bundle);
    const validated = await api("POST", "/v1/definitions:validate-code", {
      body: bundle,
      headers: JAVASCRIPT,
    });

    for (const { status, json } of [deployed, validated]) {
      expect(status).toBe(403);
      expect(json).toMatchObject({ code: "definition/code-not-accepted" });
    }
    expect((await api("GET", "/v1/definitions")).json).toEqual({ items: [] });
  });

  test("stores a bundle once, and answers with its warnings", async () => {
    const api = await served(await anEngine());
    const bundle = await bundleOf(`export const pack = step("pack", async () => 1);
      ${aWorkflow("await Promise.all([pack(), delay('1h')]);")}`);

    const first = await deploy(api, bundle, { "content-type": "text/javascript; charset=utf-8" });
    const again = await deploy(api, bundle);

    expect([first.status, again.status]).toEqual([201, 200]);
    const [definition] = first.json.definitions as [{ warnings: { code: string }[] }];
    expect(definition).toMatchObject({ id: "w", version: 1, notation: "code" });
    expect(definition.warnings.map(({ code }) => code).sort()).toEqual([
      "code/native-promise",
      "code/step-without-handler",
    ]);
    expect(definition.warnings).toContainEqual(
      expect.objectContaining({ code: "code/native-promise", file: "w.ts", line: 4 }),
    );
  });

  test("only checks a bundle in the call that validates it", async () => {
    const api = await served(await anEngine());
    const body = await bundleOf(aWorkflow("return Promise.all([delay('1h')]);"));
    const validate = (text: string) =>
      api("POST", "/v1/definitions:validate-code", { body: text, headers: JAVASCRIPT });

    const fine = await validate(body);
    const wrong = await validate("const at = Date.now(); fetch(at);");

    expect([fine.status, wrong.status]).toEqual([200, 200]);
    expect(fine.json).toMatchObject({
      valid: true,
      diagnostics: [{ severity: "warning", code: "code/native-promise", file: "w.ts", line: 3 }],
    });
    expect(wrong.json).toMatchObject({ valid: false });
    expect((await api("GET", "/v1/definitions")).json).toEqual({ items: [] });
  });

  test("is refused with the operations of another version of the SDK", async () => {
    const api = await served(await anEngine());
    const bundle = await bundleOf(aWorkflow("return 1;"));

    const { status, json } = await deploy(api, bundle.replace("PROTOCOL = 1;", "PROTOCOL = 99;"));

    expect(status).toBe(422);
    expect(json).toMatchObject({
      errors: [
        {
          code: "code/load-threw",
          message: expect.stringMatching(/speaks version 99 .*Bundle it again/),
        },
      ],
    });
    expect((await api("GET", "/v1/definitions")).json).toEqual({ items: [] });
  });

  test.each([
    ["another media type", { "content-type": "application/xml" }, 415],
    ["none", {}, 415],
    ["an encoding", { ...JAVASCRIPT, "content-encoding": "gzip" }, 415],
  ])("is refused with %s", async (_, headers, status) => {
    const api = await served(await anEngine());

    expect((await deploy(api, await bundleOf(aWorkflow("return 1;")), headers)).status).toBe(
      status,
    );
  });

  const LARGE = `${" ".repeat(1_048_577)}1;`;
  test.each<[string, string, number, string]>([
    ["a syntax error", "const = 5;", 422, "code/malformed-bundle"],
    ["TypeScript", "const a: number = 5;", 422, "code/malformed-bundle"],
    ["nothing declared", "1 + 1;", 422, "code/no-workflow"],
    ["a module scope that throws", "throw new Error('boom');", 422, "code/load-threw"],
    ["an endless loop", "for (;;);", 422, "code/load-stopped"],
    ["endless memory", "const a = []; for (;;) a.push([...a, 1]);", 422, "code/load-stopped"],
    [
      "an open operation",
      "__fermata.open('timer', '', () => {}, () => {});",
      422,
      "code/load-threw",
    ],
    ["a bridge of its own", "globalThis.__fermata = {};", 422, "code/"],
    ["a bridge that is changed", "'use strict'; __fermata.open = () => 1;", 422, "code/load-threw"],
    ["an id that is none", "__fermata.workflow('a/b', async () => '1');", 422, "code/invalid-id"],
    ["an id that is no text", "__fermata.workflow({}, async () => '1');", 422, "code/"],
    ["the clock in module scope", "const at = Date.now();", 422, "code/clock-at-load"],
    ["chance in module scope", "const at = Math.random();", 422, "code/chance-at-load"],
    ["more than 1 MB", LARGE, 413, "request/body-too-large"],
  ])(
    "is refused with %s; nothing is stored, and the engine goes on",
    async (_, text, status, code) => {
      const engine = await anEngineWith("return input;");
      const api = await served(engine);

      const { status: answered, json } = await deploy(api, text);

      const details = (json.errors ?? []) as { code?: string }[];
      const codes = [json.code, ...details.map((detail) => detail.code)];
      expect({ answered, codes }).toMatchObject({ answered: status });
      expect(
        codes.some((one) => String(one).startsWith(code)),
        codes.join(),
      ).toBe(true);
      expect((await api("GET", "/v1/definitions")).json.items).toHaveLength(1);
      expect((await run(engine, 7)).result).toBe(7);
    },
  );

  test.each([
    [
      "built-in prototypes",
      "Array.prototype.push = () => 0; Object.prototype.at = 1; Promise.prototype.then = null; Map.prototype.get = () => 1; JSON.stringify = () => '{}'; String = null;",
    ],
    ["globals", "globalThis.Promise = null; globalThis.Object = null; globalThis.JSON = null;"],
  ])("keeps the damage that a bundle does to %s inside of it", async (_, hostile) => {
    const engine = await anEngineWith("return all([task('echo', input), delay('1s')]);", {
      tasks: { echo: (input: Json) => input },
    });
    const api = await served(engine);

    const { status } = await deploy(
      api,
      `${hostile} __fermata.workflow("hostile", async () => "1");`,
    );
    if (status < 400)
      await engine.start("hostile").then(({ instanceId }) => engine.cancel(instanceId));
    const { instanceId } = await run(engine, [1]);
    await engine.advanceClock("PT1S");

    expect((await engine.get(instanceId)).result).toMatchObject([[1], {}]);
  });
});

describe("a workflow in code over HTTP", () => {
  test.each<[string, Json]>([
    ["an object", { "a-b": [null] }],
    ["a list", [1, "a"]],
    ["a text", "text"],
    ["a number", 0],
    ["null", null],
  ])("R1 takes %s as its input, and shows input and result", async (_, input) => {
    const engine = await anEngineWith("return { got: input };");
    const api = await served(engine);

    const started = await api("POST", "/v1/definitions/w/instances", { json: { input } });
    await engine.idle();
    const path = `/v1/instances/${started.json.instanceId}`;

    expect(started.status).toBe(201);
    expect((await api("GET", path)).json).toMatchObject({ input, result: { got: input } });
    expect((await api("GET", `${path}/result`)).json).toMatchObject({
      status: "succeeded",
      result: { got: input },
    });
  });

  test("R1 takes nothing, and has the input undefined; the input that it shows is null", async () => {
    const engine = await anEngineWith("return typeof input;");
    const api = await served(engine);

    const bare = await api("POST", "/v1/definitions/w/instances", { json: {} });
    const empty = await api("POST", "/v1/definitions/w/instances", { json: { variables: {} } });
    await engine.idle();

    expect((await api("GET", `/v1/instances/${bare.json.instanceId}`)).json).toMatchObject({
      input: null,
      result: "undefined",
    });
    expect((await api("GET", `/v1/instances/${empty.json.instanceId}`)).json).toMatchObject({
      input: {},
      result: "object",
    });
  });

  test("takes input or variables, not both", async () => {
    const api = await served(await anEngineWith("return 1;"));

    const { status, json } = await api("POST", "/v1/definitions/w/instances", {
      json: { input: 1, variables: { a: 1 } },
    });

    expect(status).toBe(409);
    expect(json).toMatchObject({ code: "definition/notation-differs" });
  });

  test("has its task completed with any JSON as the result, or with variables; not with both", async () => {
    const engine = await anEngineWith("return [await task('a'), await task('b')];");
    const api = await served(engine);
    const { instanceId } = await run(engine);
    const complete = async (json: object) => {
      const [open] = (await engine.tasks()).items;
      return (await api("POST", `/v1/tasks/${open?.taskId}/complete`, { json })).status;
    };

    const both = await complete({ result: 1, variables: { a: 1 } });
    const statuses = [
      await complete({ result: [null, "x"] }),
      await complete({ variables: { a: 1 } }),
    ];

    expect(both).toBe(409);
    expect(statuses).toEqual([200, 200]);
    expect((await engine.get(instanceId)).result).toEqual([[null, "x"], { a: 1 }]);
  });

  test("refuses input and result of BPMN with 409", async () => {
    const engine = await anEngine({ source: file(line("outside", [working("carry")])) });
    const api = await served(engine);
    await engine.start("outside");
    const [open] = (await engine.tasks()).items;

    const started = await api("POST", "/v1/definitions/outside/instances", { json: { input: 1 } });
    const path = `/v1/tasks/${open?.taskId}/complete`;
    const completed = await api("POST", path, { json: { result: 1 } });

    for (const { status, json } of [started, completed]) {
      expect(status).toBe(409);
      expect(json).toMatchObject({ code: "definition/notation-differs" });
    }
  });

  test("refuses to set its variables with 409", async () => {
    const engine = await anEngineWith("await event('go');");
    const api = await served(engine);
    const { instanceId } = await run(engine, { a: 1 });

    const { status, json } = await api("PATCH", `/v1/instances/${instanceId}/variables`, {
      json: { variables: { a: 2 } },
    });

    expect(status).toBe(409);
    expect(json).toMatchObject({ code: "instance/variables-fixed" });
    expect((await engine.get(instanceId)).input).toEqual({ a: 1 });
  });

  test("R22 returns the same run for the same Idempotency-Key", async () => {
    const engine = await anEngineWith("throw new Error('no');");
    const api = await served(engine);
    const start = () =>
      api("POST", "/v1/definitions/w/instances", {
        json: { input: 1 },
        headers: { "idempotency-key": "key-1" },
      });

    const first = await start();
    await engine.idle();
    const again = await start();

    expect(again.json.instanceId).toBe(first.json.instanceId);
    expect((await engine.list()).items).toMatchObject([{ status: "failed" }]);
  });
});
