import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  DEFAULT_TIMEOUT_MS,
  MAX_BACKOFF_MS,
  MAX_TIMEOUT_MS,
} from "../../../lib/adapters/handlers/task-handler-settings.ts";
import { handlersFrom, loadTaskHandlers } from "../../../lib/adapters/handlers/task-handlers.ts";
import { EngineError } from "../../../lib/ports/engine-error.ts";

describe("handlers that the host passes in", () => {
  test("may be functions, with the default settings", async () => {
    const handler = handlersFrom({ greet: ({ name }: { name: string }) => ({ hi: name }) }).get(
      "greet",
    );

    expect(handler).toMatchObject({
      timeoutMs: DEFAULT_TIMEOUT_MS,
      isolate: false,
      exclusive: false,
    });
    expect(handler).not.toHaveProperty("backoffMs");
    expect(await handler?.run({ name: "Ada" }, anAttempt)).toEqual({
      kind: "completed",
      variables: { hi: "Ada" },
    });
  });

  test("may be functions with their own settings", () => {
    const settings = { timeout: "PT2M", isolate: true, exclusive: true };

    expect(handlersFrom({ a: { run: () => {}, ...settings } }).get("a")).toMatchObject({
      timeoutMs: 120_000,
      isolate: true,
      exclusive: true,
    });
  });

  test.each([
    ["PT1S", [1_000, 1_000, 1_000]],
    ["PT0S", [0, 0, 0]],
    [250, [250, 250, 250]],
    [{ initial: "PT1S" }, [1_000, 2_000, 4_000]],
    [{ initial: "PT1S", multiplier: 3, max: "PT5S" }, [1_000, 3_000, 5_000]],
  ])("back off as their backoff %j says", (backoff, pauses) => {
    const handler = handlersFrom({ a: { run: () => {}, backoff } }).get("a");

    expect([1, 2, 3].map((attempt) => handler?.backoffMs?.(attempt))).toEqual(pauses);
  });

  test("never back off longer than the limit", () => {
    const handler = handlersFrom({ a: { run: () => {}, backoff: { initial: "P1D" } } }).get("a");

    expect(handler?.backoffMs?.(1_000)).toBe(MAX_BACKOFF_MS);
  });

  test.each([
    ["text", "no function", "neither a function nor an object"],
    ["no run", {}, "`run` is not a function"],
    ["an unknown setting", { run() {}, timeOut: 5 }, 'no setting "timeOut"'],
    ["a timeout that is no duration", { run() {}, timeout: "soon" }, "timeout is wrong"],
    ["a timeout of nothing", { run() {}, timeout: 0 }, "timeout is no length of time"],
    ["a timeout in months", { run() {}, timeout: "P1M" }, "no fixed length"],
    ["a timeout too long", { run() {}, timeout: MAX_TIMEOUT_MS + 1 }, "timeout is too long"],
    ["a backoff too long", { run() {}, backoff: MAX_BACKOFF_MS + 1 }, "backoff is too long"],
    ["a negative backoff", { run() {}, backoff: "-PT1S" }, "backoff is no length of time"],
    ["a backoff without beginning", { run() {}, backoff: {} }, "backoff.initial is no length"],
    ["a shrinking backoff", { run() {}, backoff: { initial: 1, multiplier: 0.5 } }, "multiplier"],
    ["an unknown backoff", { run() {}, backoff: { initial: 1, jitter: 1 } }, '"jitter"'],
    ["a switch that is none", { run() {}, isolate: "yes" }, "are switches"],
  ])("are refused with %s", (_, exported, problem) => {
    const error = caught(() => handlersFrom({ "charge-card": exported }));

    expect(error.code).toBe("tasks/handler-unusable");
    expect(error.message).toContain('tasks["charge-card"]');
    expect(error.message).toContain(problem);
  });

  test("may have a timeout up to the limit", () => {
    expect(handlersFrom({ a: { run() {}, timeout: MAX_TIMEOUT_MS } }).get("a")?.timeoutMs).toBe(
      MAX_TIMEOUT_MS,
    );
  });
});

describe("handlers in a folder", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "fermata-tasks-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test("are the default exports of its files, by their names", async () => {
    write("charge-card.ts", "export default (input: { a: number }) => ({ b: input.a });");
    write("io.example%3Amail%2Fsend.mjs", "export default { run() {}, timeout: 'PT1M' };");
    write("plain.js", "export default async () => ({});");
    write("charge-card.test.ts", "throw new Error('not a handler');");
    write("types.d.ts", "export type A = 1;");
    write(".hidden.mjs", "throw new Error('not a handler');");
    write("README.md", "# not a handler");

    const handlers = await loadTaskHandlers(folder);

    expect([...handlers.keys()].toSorted()).toEqual([
      "charge-card",
      "io.example:mail/send",
      "plain",
    ]);
    expect(await handlers.get("charge-card")?.run({ a: 1 }, anAttempt)).toEqual({
      kind: "completed",
      variables: { b: 1 },
    });
    expect(handlers.get("io.example:mail/send")?.timeoutMs).toBe(60_000);
  });

  test("are refused together, each with its file and a fix", async () => {
    write("broken.mjs", "export default (");
    write("empty.mjs", "export const run = () => {};");
    write("odd%zz.mjs", "export default () => {};");
    write("twin.js", "export default () => {};");
    write("twin.mjs", "export default () => {};");
    write("wrong.mjs", "export default { run() {}, timeout: 'soon' };");
    write("fine.mjs", "export default () => {};");

    const error = await loadTaskHandlers(folder).catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(EngineError);
    const { code, details } = error as EngineError;
    expect(code).toBe("tasks/handler-unusable");
    expect(details.map(({ source }) => source).toSorted()).toEqual(
      ["broken.mjs", "empty.mjs", "odd%zz.mjs", "twin.mjs", "wrong.mjs"].map((file) =>
        join(folder, file),
      ),
    );
    for (const { problem, fix } of details) {
      expect(problem).toMatch(/\S/);
      expect(fix).toMatch(/\S/);
    }
  });

  test("may be steps, by their own types, with or without a default export", async () => {
    const step = 'import { step } from "fermata-engine/workflow";';
    write(
      "payments.ts",
      `${step} export const a = step("pay", (n: number) => ({ n }), { timeout: "2m" });
      export const alias = a; export { b as default }; const b = step("refund", () => ({}));`,
    );
    write(
      "mail.ts",
      `${step} export { a } from "./payments.ts";
      export const c = step("sms", () => ({})); export default () => ({});`,
    );

    const handlers = await loadTaskHandlers(folder);

    expect([...handlers.keys()].toSorted()).toEqual(["mail", "pay", "refund", "sms"]);
    // The timer of the whole task comes first.
    expect(handlers.get("pay")?.timeoutMs).toBe(130_000);
    expect(await handlers.get("pay")?.run(3, { ...anAttempt, takesJson: true })).toMatchObject({
      kind: "completed",
    });
  });

  test("are refused where two handle one type, with both files", async () => {
    write("pay.mjs", "export default () => {};");
    write(
      "steps.ts",
      `import { step } from "fermata-engine/workflow"; export const pay = step("pay", () => 1);`,
    );

    await expect(loadTaskHandlers(folder)).rejects.toMatchObject({
      code: "tasks/handler-unusable",
      message: expect.stringMatching(/steps\.ts: .*pay\.mjs handles the type "pay", too/),
    });
  });

  test("need a folder", async () => {
    await expect(loadTaskHandlers(join(folder, "nowhere"))).rejects.toMatchObject({
      code: "tasks/handler-unusable",
      message: expect.stringContaining("nowhere"),
    });
  });

  function write(file: string, text: string): void {
    writeFileSync(join(folder, file), text);
  }
});

const anAttempt = {
  taskId: "order-1.k1",
  instanceId: "order-1",
  ticket: "k1",
  element: "charge",
  idempotencyKey: "order-1:k1",
  attempt: 1,
  headers: {},
};

function caught(act: () => unknown): EngineError {
  try {
    act();
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}
