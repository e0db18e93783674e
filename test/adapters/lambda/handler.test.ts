import { LambdaClient } from "@aws-sdk/client-lambda";
import { afterEach, describe, expect, test } from "vitest";
import { parseTaskResult } from "../../../lib/adapters/handlers/task-result.ts";
import { lambdaHandler } from "../../../lib/adapters/lambda/handler.ts";
import type { TaskOutcome } from "../../../lib/ports/tasks.ts";
import {
  type Canned,
  type CannedService,
  cannedService,
  refusal,
} from "../../support/canned-service.ts";

describe("a task that runs as a Lambda function", () => {
  let service: CannedService;
  afterEach(() => service.close());

  async function run(...answers: Canned[]): Promise<TaskOutcome> {
    service = await cannedService(...answers);
    const client = new LambdaClient(service.settings);
    const declared = { timeoutMs: 20_000, isolate: false, exclusive: true };
    const clock = { pause: async () => {} };
    const parseResult = parseTaskResult;
    const handler = lambdaHandler({ client, arn: "charge", declared, parseResult, clock });
    return handler.run({}, about);
  }

  test.each([
    ["NO_STOCK", "NO_STOCK"],
    ["NO_STOCK: none of 42 is left", "NO_STOCK"],
    ["no-stock:none", "no-stock"],
  ])("throws the code that its BusinessError begins with: %s", async (say, code) => {
    const outcome = await run(thrown({ errorType: "BusinessError", errorMessage: say }));

    expect(outcome).toEqual({ kind: "failed", message: say, code });
  });

  test("throws the code and variables that its own runtime passes on", async () => {
    const error = { errorType: "BusinessError", errorMessage: "none is left", code: "NO_STOCK" };
    const outcome = await run(thrown({ ...error, variables: { left: 0 } }));

    expect(outcome).toEqual({
      kind: "failed",
      message: "none is left",
      code: "NO_STOCK",
      variables: { left: 0 },
    });
  });

  test.each([
    ["another error", { errorType: "TypeError", errorMessage: "NO_STOCK: none" }],
    ["a sentence", { errorType: "BusinessError", errorMessage: "There is none left" }],
  ])("uses up a retry after %s", async (_, error) => {
    expect(await run(thrown(error))).toEqual({ kind: "failed", message: error.errorMessage });
  });

  test("is named by its type when it fails without a message", async () => {
    const outcome = await run(thrown({ errorType: "Runtime.ExitError", errorMessage: "" }));

    expect(outcome).toMatchObject({ message: "The function failed with Runtime.ExitError." });
  });

  test("is called again when the invocation was throttled", async () => {
    const tooMany = refusal("TooManyRequestsException", 429);
    const outcome = await run(tooMany, tooMany, tooMany, { body: { paid: true } });

    expect(outcome).toEqual({ kind: "completed", variables: { paid: true } });
  });

  test("that is throttled four times has not run, and uses up no retry", async () => {
    const outcome = await run(refusal("TooManyRequestsException", 429));

    expect(outcome).toEqual({ kind: "not-run", retryAfterMs: 5_000 });
    expect(service.asked).toHaveLength(4);
  });

  test("is redelivered at the time the service names", async () => {
    const tooMany = refusal("TooManyRequestsException", 429);
    const headers = { ...tooMany.headers, "retry-after": "30" };
    const outcome = await run({ ...tooMany, headers });

    expect(outcome).toEqual({ kind: "not-run", retryAfterMs: 30_000 });
  });

  test.each([refusal("ServiceException", 500), refusal("RequestTooLargeException", 413)])(
    "is not called again when it may have run, or cannot run: $body.__type",
    async (answer) => {
      const outcome = await run(answer, { body: {} });

      expect(outcome).toMatchObject({ kind: "failed" });
      expect(service.asked).toHaveLength(1);
    },
  );
});

function thrown(error: object): Canned {
  return { headers: { "x-amz-function-error": "Unhandled" }, body: error };
}

const about = {
  taskId: "order-1.k1.1",
  instanceId: "order-1",
  ticket: "k1.1",
  element: "charge",
  idempotencyKey: "order-1.k1.1",
  attempt: 1,
  headers: {},
};
