import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { FUNCTIONS, functionCode } from "../../cdk/bundle.ts";
import { MAX_BUNDLE_BYTES } from "../../functions/budgets.ts";
import { VARIABLES } from "../../functions/settings.ts";

const textOf = (name: (typeof FUNCTIONS)[number]) => Buffer.from(functionCode(name)).toString();

describe("the bundle of a function", () => {
  test.each(FUNCTIONS)("%s keeps its size budget", (name) => {
    expect(functionCode(name).byteLength).toBeLessThanOrEqual(MAX_BUNDLE_BYTES[name]);
  });

  test("has the parser of BPMN only where sources are compiled", () => {
    const parsing = FUNCTIONS.filter((name) => textOf(name).includes("bpmn/unknown-element"));

    expect(parsing).toEqual(["compile"]);
  });

  test("calls HTTP services only where tasks are run", () => {
    const calling = FUNCTIONS.filter((name) => textOf(name).includes("GetSecretValue"));

    expect(calling).toEqual(["run-task"]);
  });

  test.each(FUNCTIONS)("%s loads in Node and has a handler", async (name) => {
    expect(await loaded(name, everyVariable)).toBe("function\n");
  });

  test("lists everything that is missing in its environment when it is loaded", async () => {
    await expect(loaded("advance", {})).rejects.toMatchObject({
      stderr: expect.stringMatching(/FERMATA_TABLE is not set.*FERMATA_SCHEDULE_GROUP is not set/),
    });
  });
});

const everyVariable: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.values(VARIABLES).map((name) => [name, "https://queues/1/one"])),
  [VARIABLES.retentionMs]: String(30 * 86_400_000),
  [VARIABLES.timerBackend]: "scheduler",
  [VARIABLES.timerQueueMaxSeconds]: "900",
  [VARIABLES.scheduleLeadSeconds]: "90",
  [VARIABLES.announces]: "false",
  [VARIABLES.taskArns]: "{}",
  [VARIABLES.taskQueues]: "[]",
  [VARIABLES.httpAllowHosts]: "[]",
  [VARIABLES.httpAllowPrivate]: "[]",
  [VARIABLES.httpSecrets]: '{"KEY":{"arn":"arn","hosts":["api.example.com"]}}',
};

/** What a fresh process says about the handler of a bundle. */
async function loaded(
  name: (typeof FUNCTIONS)[number],
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "fermata-bundle-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "index.mjs"), functionCode(name));
  const program = 'console.log(typeof (await import("./index.mjs")).handler); process.exit()';
  const env = { AWS_REGION: "eu-central-1", AWS_LAMBDA_FUNCTION_NAME: name, ...variables };
  const args = ["--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env });
  return stdout;
}
