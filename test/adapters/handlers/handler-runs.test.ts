import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { HandlerRuns, type TaskContext } from "../../../lib/adapters/handlers/handler-runs.ts";
import { MAX_RESULT_DEPTH } from "../../../lib/adapters/handlers/task-result.ts";
import { MAX_MESSAGE_LENGTH } from "../../../lib/definition/limits.ts";
import { ManualTime } from "../../support/manual-time.ts";

describe("a handler", () => {
  test("gets the details of its attempt", async () => {
    let context: TaskContext | undefined;
    await run((_, about) => {
      context = about;
    });

    expect(context).toMatchObject({
      taskId: "order-1.k1",
      instanceId: "order-1",
      element: "charge",
      idempotencyKey: "order-1:k1",
      attempt: 2,
      headers: { mode: "test" },
    });
    expect(context?.signal.aborted).toBe(false);
    await expect(context?.heartbeat()).resolves.toBeUndefined();
  });

  test("cannot change the instance by changing its input", async () => {
    const input = { order: { total: 1 } };
    await run((given) => {
      const { order } = given as { order: { total: number } };
      order.total = 2;
    }, input);

    expect(input).toEqual({ order: { total: 1 } });
  });

  test.each([
    ["an object", { total: 42, lines: [{ sku: "a" }] }, { total: 42, lines: [{ sku: "a" }] }],
    ["nothing", undefined, {}],
    ["null", null, {}],
    ["undefined properties", { a: 1, b: undefined }, { a: 1 }],
    ["minus zero", { a: -0 }, { a: 0 }],
    [
      "a property named __proto__",
      JSON.parse('{"__proto__":{"a":1}}'),
      JSON.parse('{"__proto__":{"a":1}}'),
    ],
  ])("completes with %s", async (_, value, variables) => {
    const outcome = await run(() => value);

    expect(outcome).toEqual({ kind: "completed", variables });
    expect(JSON.stringify(outcome)).toBe(JSON.stringify({ kind: "completed", variables }));
  });

  test("completes with a copy of its return value", async () => {
    const returned = { lines: ["a"] };
    const outcome = await run(() => returned);
    returned.lines.push("b");

    expect(outcome).toEqual({ kind: "completed", variables: { lines: ["a"] } });
  });

  const cyclic: Record<string, unknown> = { name: "loop" };
  cyclic.self = cyclic;
  test.each([
    ["a text", "done", "the result is a string"],
    ["a list", [1], "the result is a list"],
    ["a function", { then_: () => 1 }, "the result.then_ is a function"],
    ["a BigInt", { n: 1n }, "the result.n is a BigInt"],
    ["a date", { at: new Date(0) }, "the result.at is a Date. Use its text: date.toISOString()"],
    ["a map", { m: new Map() }, "the result.m is a Map"],
    ["NaN", { list: [1, Number.NaN] }, "the result.list[1] is NaN"],
    ["a symbol", { s: Symbol("s") }, "the result.s is a symbol"],
    ["a hole", { list: new Array(1) }, "the result.list[0] is undefined"],
    ["a cycle", cyclic, "the result.self contains itself"],
    [
      "a getter that throws",
      {
        get a() {
          throw new Error("no");
        },
      },
      "cannot be read: Error: no",
    ],
  ])("fails with a clear message for %s", async (_, value, problem) => {
    expect(await run(() => value)).toEqual({
      kind: "failed",
      message: expect.stringContaining(problem),
    });
  });

  test("has a limited nesting depth for its result", async () => {
    expect(await run(() => nested(MAX_RESULT_DEPTH))).toMatchObject({ kind: "completed" });
    expect(await run(() => nested(MAX_RESULT_DEPTH + 1))).toMatchObject({
      message: expect.stringContaining("nested too deeply"),
    });
  });

  test("may return the same object in two places", async () => {
    const address = { city: "Bern" };

    expect(await run(() => ({ from: address, to: address }))).toMatchObject({
      variables: { from: { city: "Bern" }, to: { city: "Bern" } },
    });
  });
});

describe("a handler that throws", () => {
  test("fails without a code, even if Node's error has one", async () => {
    const refused = Object.assign(new Error("connect failed"), { code: "ECONNREFUSED" });

    expect(
      await run(() => {
        throw refused;
      }),
    ).toEqual({ kind: "failed", message: "connect failed" });
  });

  test("fails with the code of a BusinessError, and its variables", async () => {
    const declined = businessError({ code: "DECLINED", variables: { reason: "limit" } });

    expect(await run(() => Promise.reject(declined))).toEqual({
      kind: "failed",
      message: "declined",
      code: "DECLINED",
      variables: { reason: "limit" },
    });
  });

  test("keeps the code when the variables cannot be stored", async () => {
    const outcome = await run(() =>
      Promise.reject(businessError({ code: "X", variables: { n: 1n } })),
    );

    expect(outcome).toEqual({
      kind: "failed",
      code: "X",
      message: "declined (Its variables were dropped: variables of the error.n is a BigInt.)",
    });
  });

  test("has no code when the code is not a text", async () => {
    expect(await run(() => Promise.reject(businessError({ code: 7 })))).toEqual({
      kind: "failed",
      message: "declined",
    });
  });

  test.each([
    ["a text", "broken", "The handler threw broken."],
    ["nothing", undefined, "The handler threw undefined."],
    ["an error without message", new TypeError(), "The handler failed with TypeError."],
    ["a plain object", { foo: 1 }, 'The handler threw {"foo":1}.'],
    ["what has no text", Object.create(null), "The handler threw a value that has no text."],
    ["what cannot be read", unreadable(), "The handler threw a value that has no text."],
    [
      "an error whose message cannot be read",
      Object.defineProperty(new Error("x"), "message", { get: refusal }),
      "The handler threw a value that has no text.",
    ],
  ])("is described when it threw %s", async (_, thrown, message) => {
    expect(
      await run(() => {
        throw thrown;
      }),
    ).toEqual({ kind: "failed", message });
  });

  test("has its message truncated when it is too long", async () => {
    const outcome = await run(() => Promise.reject(new Error("x".repeat(MAX_MESSAGE_LENGTH + 1))));

    expect(outcome).toMatchObject({ message: expect.stringMatching(/^x+…$/) });
    expect(outcome.kind === "failed" && outcome.message).toHaveLength(MAX_MESSAGE_LENGTH);
  });
});

describe("a handler that takes too long", () => {
  test("fails, its signal is aborted, and its late result is dropped", async () => {
    const { runs, time } = opened();
    let context: TaskContext | undefined;
    const outcome = runs.run(
      async (_, about) => {
        context = about;
        await time.pause(2_000);
        return { late: true };
      },
      {},
      { about: anAttempt, timeoutMs: 1_000 },
    );
    await time.pass(1_000);

    expect(await outcome).toEqual({
      kind: "failed",
      message: "The handler timed out after 1000 ms.",
    });
    expect(context?.signal.reason).toMatchObject({ name: "TimeoutError" });
    await expect(context?.heartbeat()).rejects.toThrow("timed out");
    await time.pass(5_000);
  });

  test("causes no unhandled rejection when it fails later", async () => {
    const { runs, time } = opened();
    const unhandled: unknown[] = [];
    const listen = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", listen);
    const outcome = runs.run(
      async () => {
        await time.pause(2_000);
        throw new Error("too late");
      },
      {},
      { about: anAttempt, timeoutMs: 1_000 },
    );
    await time.pass(5_000);
    await turn();
    process.off("unhandledRejection", listen);

    expect(await outcome).toMatchObject({ kind: "failed" });
    expect(unhandled).toEqual([]);
  });

  test("leaves no timeout armed when it finished in time", async () => {
    const { runs, time } = opened();
    await runs.run(() => ({}), {}, { about: anAttempt, timeoutMs: 1_000 });

    expect(time.alarms).toBe(0);
  });
});

describe("stopping a task", () => {
  test("aborts the handlers of that ticket only", async () => {
    const { runs } = opened();
    const signals: AbortSignal[] = [];
    const wait = (_: unknown, { signal }: TaskContext) => {
      signals.push(signal);
      return new Promise(() => {});
    };
    const stopped = runs.run(wait, {}, { about: anAttempt, timeoutMs: 1_000 });
    void runs.run(wait, {}, { about: { ...anAttempt, ticket: "k2" }, timeoutMs: 1_000 });
    runs.stop("order-1", "k1");

    expect(await stopped).toMatchObject({ kind: "failed", message: "The task was interrupted." });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });
});

const anAttempt = {
  taskId: "order-1.k1",
  instanceId: "order-1",
  ticket: "k1",
  element: "charge",
  idempotencyKey: "order-1:k1",
  attempt: 2,
  headers: { mode: "test" },
};

function opened() {
  const time = new ManualTime();
  return { time, runs: new HandlerRuns({ alarm: time.alarm }) };
}

function run(code: Parameters<HandlerRuns["run"]>[0], input = {}) {
  return opened().runs.run(code, input, { about: anAttempt, timeoutMs: 1_000 });
}

function businessError(parts: object): Error {
  return Object.assign(new Error("declined"), { name: "BusinessError", ...parts });
}

function nested(depth: number): unknown {
  return depth === 0 ? "bottom" : { below: nested(depth - 1) };
}

function refusal(): never {
  throw new Error("Do not look.");
}

/** Whatever is done to it throws. */
function unreadable(): object {
  return new Proxy({}, { get: refusal, getPrototypeOf: refusal });
}
