// Functions of the emulator: processes of the pinned Node, started as Lambda would. It does not pass
// on the name of an error: what depends on that is tested in test/adapters/lambda.

import { randomUUID } from "node:crypto";
import {
  CreateFunctionCommand,
  DeleteFunctionCommand,
  LambdaClient,
  waitUntilFunctionActiveV2,
} from "@aws-sdk/client-lambda";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseTaskResult } from "../../lib/adapters/handlers/task-result.ts";
import { remoteCompiler } from "../../lib/adapters/lambda/compiler.ts";
import { lambdaHandler } from "../../lib/adapters/lambda/handler.ts";
import type { Variables } from "../../lib/definition/json.ts";
import type { TaskAttempt } from "../../lib/ports/tasks.ts";
import { emulated } from "../support/emulator.ts";
import { zipOf } from "../support/zip.ts";

const client = new LambdaClient({ ...emulated(), maxAttempts: 1 });
const name = `task-${randomUUID()}`;

/** Does what its input says. */
const CODE = `
  export const handler = async ({ input, context, source }) => {
    if (source !== undefined) return JSON.parse(source);
    switch (input.do) {
      case "echo": return { input, context, node: process.version };
      case "fail": throw new TypeError(input.say);
      case "wait": return new Promise((done) => setTimeout(done, 60_000));
      case "return": return input.value;
    }
  };
`;

beforeAll(async () => {
  await client.send(
    new CreateFunctionCommand({
      FunctionName: name,
      Runtime: "nodejs24.x",
      Role: "arn:aws:iam::000000000000:role/task",
      Handler: "index.handler",
      Timeout: 30,
      Code: { ZipFile: zipOf("index.mjs", CODE) },
    }),
  );
  await waitUntilFunctionActiveV2({ client, maxWaitTime: 30 }, { FunctionName: name });
});
afterAll(async () => {
  await client.send(new DeleteFunctionCommand({ FunctionName: name }));
  client.destroy();
});

describe("a task that runs as a Lambda function", () => {
  test("gets its input and the details of its attempt, and returns variables", async () => {
    const { ticket: _, ...context } = about;
    const outcome = await run({ do: "echo", amount: 3 });

    expect(outcome).toMatchObject({
      kind: "completed",
      variables: { input: { do: "echo", amount: 3 }, context },
    });
  });

  test("runs on the Node version that the engine requires", async () => {
    expect(await run({ do: "echo" })).toMatchObject({
      variables: { node: expect.stringMatching(/^v24\./) },
    });
  });

  test("may return nothing", async () => {
    expect(await run({ do: "nothing" })).toEqual({ kind: "completed", variables: {} });
  });

  test.each<[string, Variables]>([
    ["a list", { do: "return", value: [1] }],
    ["a name that is no variable", { do: "return", value: { "a b": 1 } }],
  ])("fails when it returns what cannot be stored: %s", async (_, input) => {
    expect(await run(input)).toMatchObject({
      kind: "failed",
      message: expect.stringContaining("cannot be kept"),
    });
  });

  test("fails without a code when it throws anything else", async () => {
    const outcome = await run({ do: "fail", say: "NO_STOCK: none is left" });

    expect(outcome).toEqual({ kind: "failed", message: "NO_STOCK: none is left" });
  });

  test("fails when it does not answer in time", async () => {
    const outcome = await run({ do: "wait" }, { timeoutMs: 500 });

    expect(outcome).toMatchObject({ kind: "failed", message: expect.stringContaining("500 ms") });
  });

  test("fails when it does not exist", async () => {
    const outcome = await run({}, { arn: "no-such-function" });

    expect(outcome).toMatchObject({
      kind: "failed",
      message: expect.stringContaining("ResourceNotFoundException"),
    });
  });
});

describe("a compiler that runs as a Lambda function", () => {
  const compile = (functionName: string, source: string) =>
    remoteCompiler({ client, functionName, notation: "bpmn" })(source);

  test("answers with the compilation", async () => {
    const compilation = { ok: false, diagnostics: [] };

    expect(await compile(name, JSON.stringify(compilation))).toEqual(compilation);
  });

  test.each([
    ["fails", name, "no JSON"],
    ["answers something else", name, "{}"],
    ["does not exist", "no-such-function", "{}"],
  ])("is unavailable when it %s", async (_, functionName, source) => {
    await expect(compile(functionName, source)).rejects.toMatchObject({
      code: "compiler/unavailable",
      retryable: true,
    });
  });
});

const about: TaskAttempt = {
  taskId: "order-1.k1.1",
  instanceId: "order-1",
  ticket: "k1.1",
  element: "charge",
  idempotencyKey: "order-1.k1.1",
  attempt: 2,
  headers: { region: "eu" },
};

function run(input: Variables, { timeoutMs = 20_000, arn = name } = {}) {
  const declared = { timeoutMs, isolate: false, exclusive: false };
  const clock = { pause: async () => {} };
  const parseResult = parseTaskResult;
  return lambdaHandler({ client, arn, declared, parseResult, clock }).run(input, about);
}
