import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { describeTasks } from "../../functions/describe-tasks/handler.ts";
import { MAX_TASK_TIMEOUT_MS } from "../../functions/settings.ts";
import { aDataDir } from "../support/embedded.ts";

const run = promisify(execFile);
const tool = fileURLToPath(new URL("../../functions/describe-tasks/index.ts", import.meta.url));

describe("the manifest of tasks", () => {
  test("contains what the engine needs about each handler", () => {
    const manifest = describeTasks({
      pay: () => ({}),
      "ship it": { run: () => ({}), timeout: "PT2M", isolate: true, exclusive: true },
    });

    expect(manifest).toEqual({
      pay: { timeoutMs: 45_000, isolate: false, exclusive: false },
      "ship it": { timeoutMs: 120_000, isolate: true, exclusive: true },
    });
  });

  test("has no handler with a longer timeout than a function", () => {
    const handler = (timeout: number) => ({ long: { run: () => ({}), timeout } });

    expect(describeTasks(handler(MAX_TASK_TIMEOUT_MS)).long?.timeoutMs).toBe(840_000);
    expect(() => describeTasks(handler(MAX_TASK_TIMEOUT_MS + 1))).toThrow("at most 14 minutes");
  });

  test("is the only output, whatever the handlers print and keep open", async () => {
    const file = aModule(`
      console.log("loading");
      setInterval(() => {}, 1_000);
      export default { pay: async () => ({}) };
    `);

    const { stdout, stderr } = await run(process.execPath, [tool, file]);

    expect(JSON.parse(stdout)).toEqual({
      pay: { timeoutMs: 45_000, isolate: false, exclusive: false },
    });
    expect(stderr).toContain("loading");
  });

  test("is refused with everything that is wrong", async () => {
    const file = aModule(`export default { pay: 1, ship: { run: () => {}, colour: "red" } };`);

    await expect(run(process.execPath, [tool, file])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/pay.*ship.*colour/s),
    });
  });
});

function aModule(text: string): string {
  const file = join(aDataDir(), "tasks.mjs");
  writeFileSync(file, text);
  return file;
}
