// The contract suites of the AWS adapters. Starts DynamoDB Local and the AWS emulator on free ports,
// runs the tests of test/aws against them, and ends both. Ends with "N passed, N failed".
//
//   npm run test:aws
//   npm run test:aws -- dynamodb      only the files whose name contains that

import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startDynamoDbLocal } from "../test/support/dynamodb-local.ts";
import { printHelp } from "./command-line.ts";
import { endBySignal } from "./deployment/end-by-signal.ts";
import { startEmulator } from "./emulator/start-emulator.ts";
import { runTests, type TestRun } from "./vitest-report.ts";

printHelp(import.meta.filename);
const BEAT_MS = 15_000;
const began = performance.now();
const endings: (() => Promise<void>)[] = [];
endBySignal(endAll);

try {
  process.exitCode = await main();
} catch (cause) {
  console.error(`test:aws: ${cause instanceof Error ? cause.message : String(cause)}`);
  console.log("0 passed, 1 failed");
  process.exitCode = 1;
} finally {
  await endAll();
}

async function main(): Promise<number> {
  tell("Starting DynamoDB Local…");
  const dynamoDb = await startDynamoDbLocal();
  endings.push(dynamoDb.stop);
  tell("Starting the AWS emulator…");
  const folder = mkdtempSync(join(tmpdir(), "fermata-aws-"));
  endings.push(() => rm(folder, { recursive: true, force: true }));
  const emulator = await startEmulator({ folder, log: tell });
  endings.push(emulator.stop);
  standIn({
    FERMATA_TEST_DYNAMODB_ENDPOINT: dynamoDb.endpoint,
    AWS_ENDPOINT_URL: emulator.endpoint,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
  });
  return tellSum(await runSuite());
}

/** The settings of the tests, and none of the caller's own account. */
function standIn(settings: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith("AWS_")) delete process.env[name];
  }
  Object.assign(process.env, settings);
}

async function runSuite(): Promise<TestRun> {
  tell("Running the tests, some two minutes…");
  const beat = setInterval(() => tell("still running the tests"), BEAT_MS);
  try {
    return await runTests(["aws"], { options: process.argv.slice(2) });
  } finally {
    clearInterval(beat);
  }
}

/**
 * The output of vitest is printed when something failed, even if only a file could not be loaded.
 */
function tellSum({ code, output, tests }: TestRun): number {
  const passed = tests.filter((test) => test.passed).length;
  const failed = Math.max(tests.length - passed, code === 0 ? 0 : 1);
  if (failed > 0) console.log(output);
  tell("Done.");
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

async function endAll(): Promise<void> {
  // Ended in reverse order of starting; each once.
  for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
}

function tell(line: string): void {
  console.log(`${((performance.now() - began) / 1_000).toFixed(1).padStart(5)} s  ${line}`);
}
