// Users' journeys through the deployed shape. Starts an AWS emulator that enforces permissions, deploys
// into it from nothing, runs the tests of test/end-to-end with signed calls, and ends the emulator.
// Ends with "N passed, N failed", and ", N skipped" where the target lacks something.
//
//   npm run test:e2e
//   npm run test:e2e -- signals              only the files whose name contains that
//   npm run test:e2e -- --keep               leaves everything running, and says how to go on with it
//   npm run test:e2e -- --expect-skipped 5   another number of skipped tests is a failure
//
// With AWS_ENDPOINT_URL set it deploys there instead: into LocalStack, or, where that is
// https://amazonaws.com, into the account that your AWS settings name, and removes it afterwards.
// FERMATA_E2E_API=rest and FERMATA_E2E_TIMERS=wheel are for targets without HTTP APIs or Scheduler.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { awsSigner } from "../lib/client/aws/index.ts";
import { createClient } from "../lib/client/index.ts";
import { readCommandLine } from "./command-line.ts";
import { apiUrlAt } from "./deployment/api-url.ts";
import { bootstrap, type Context, deploy, destroy } from "./deployment/cdk.ts";
import { type E2ePlace, givenPlace, ownEmulator } from "./deployment/e2e-place.ts";
import { e2eQueues } from "./deployment/e2e-queues.ts";
import { e2eSecret } from "./deployment/e2e-secret.ts";
import { writeTarget } from "./deployment/e2e-target.ts";
import { endBySignal } from "./deployment/end-by-signal.ts";
import { untilAnswers } from "./deployment/until-answers.ts";
import { stopEmulator } from "./emulator/start-emulator.ts";

/** On the emulator of this repository nothing is skipped. */
const SKIPPED_HERE = 0;

/** Short queue delay and lead of timers: half a minute takes the route of a month. */
const CONTEXT: Context = {
  auth: "iam",
  alarms: "off",
  removal: "destroy",
  synthesizer: "cli-credentials",
  tasks: ["test/scenarios/tasks", "test/end-to-end/tasks", "test/end-to-end/release-1"].join(","),
  timerQueueMaxSeconds: "20",
  scheduleLeadSeconds: "5",
};

const Report = z.object({
  testResults: z.array(
    z.object({
      assertionResults: z.array(
        z.object({
          fullName: z.string(),
          status: z.string(),
          meta: z.object({ skippedBecause: z.string().optional() }),
        }),
      ),
    }),
  ),
});

const { values, positionals } = readCommandLine(import.meta.filename, {
  options: { keep: { type: "boolean" }, "expect-skipped": { type: "string" } },
  allowPositionals: true,
});
const began = performance.now();
/** What is running already, and ends with this process on a signal, in reverse order. */
const begun: (() => unknown)[] = [];
const isEnding = endBySignal(endAll);

try {
  process.exitCode = await main();
} catch (cause) {
  if (!isEnding()) {
    console.error(`test:e2e: ${cause instanceof Error ? cause.message : String(cause)}`);
    console.log("0 passed, 1 failed");
  }
  process.exitCode = 1;
}

async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "fermata-e2e-"));
  begun.push(() => rmSync(folder, { recursive: true, force: true }));
  let isKept = false;
  try {
    const place = await beginIn(folder);
    const file = await deployTo(place, folder);
    const run = await runSuite(place, file, folder);
    isKept = values.keep ?? false;
    if (isKept) tellHow(place, file);
    return tellSum(run, process.env.AWS_ENDPOINT_URL === undefined ? SKIPPED_HERE : undefined);
  } finally {
    if (!isKept) await endAll();
  }
}

/** A target to deploy to, which ends with this process as soon as there is anything to end. */
async function beginIn(folder: string): Promise<E2ePlace> {
  const { AWS_ENDPOINT_URL: given } = process.env;
  if (given !== undefined) {
    const place = await givenPlace(given, process.env);
    begun.push(() => destroy({ place: place.aws, folder }));
    return place;
  }
  const onLaunch = (pid: number) => void begun.push(() => stopEmulator(pid));
  const options = { folder, detached: values.keep ?? false, log: tell, onLaunch };
  return ownEmulator(options, process.env);
}

async function endAll(): Promise<void> {
  for (let end = begun.pop(); end; end = begun.pop()) await end();
}

/**
 * Deploys from scratch, waits until it responds, and writes a file that tells the tests where it
 * is.
 */
async function deployTo(place: E2ePlace, folder: string): Promise<string> {
  const { aws, lacks } = place;
  if (place.needsBootstrap) {
    tell("Preparing the account (cdk bootstrap)…");
    await bootstrap(aws);
  }
  tell("Deploying (cdk deploy)…");
  const secret = lacks.loopback === undefined ? await e2eSecret(aws) : {};
  const queues = await e2eQueues(aws);
  begun.push(queues.drop);
  const context: Context = { ...CONTEXT, ...place.alternatives, ...secret, ...queues.context };
  const outputs = await deploy({ place: aws, context, folder });
  const { endpoint, region, credentials } = aws;
  const apiUrl = apiUrlAt(outputs.ApiUrl ?? "", endpoint);
  tell(`Waiting until ${apiUrl} answers…`);
  const sign = awsSigner({ region, ...(credentials !== undefined && { credentials }) });
  await untilAnswers(createClient({ baseUrl: apiUrl, sign }));
  const file = join(folder, "target.json");
  const where = { apiUrl, region, ...(endpoint !== undefined && { endpoint }) };
  writeTarget(file, { ...where, outputs, context, folder, lacks });
  return file;
}

type Test = Readonly<{ name: string; status: string; skippedBecause?: string | undefined }>;
type Run = Readonly<{ tests: readonly Test[]; isGood: boolean }>;

/** Runs vitest, prints its lines as they come, and returns every test. */
async function runSuite({ aws }: E2ePlace, file: string, folder: string): Promise<Run> {
  tell("Running the tests…");
  const report = join(folder, "report.json");
  const reporters = ["--reporter=verbose", "--reporter=json", `--outputFile.json=${report}`];
  const suite = spawn("vitest", ["run", "--project=end-to-end", ...reporters, ...positionals], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...aws.environment, FERMATA_E2E_TARGET: file },
  });
  begun.push(() => suite.kill());
  const [code] = await once(suite, "close");
  if (code !== 0 && !isEnding()) keepLog(folder);
  const { testResults } = Report.parse(JSON.parse(readFileSync(report, "utf8")));
  const tests = testResults.flatMap(({ assertionResults }) =>
    assertionResults.map(({ fullName, status, meta }) => ({ name: fullName, status, ...meta })),
  );
  return { tests, isGood: code === 0 };
}

/** Skipped tests are printed with their reason and counted; an unexpected number is a failure. */
function tellSum({ tests, isGood }: Run, usual: number | undefined): number {
  const passed = tests.filter(({ status }) => status === "passed").length;
  const told = tests.filter(({ status }) => status === "failed").length;
  const skipped = tests.filter(({ status }) => status !== "passed" && status !== "failed");
  for (const { name, skippedBecause = "for no reason" } of skipped) {
    console.log(`skipped: ${name} (${skippedBecause})`);
  }
  const expected = values["expect-skipped"] ?? usual;
  const isOdd = expected !== undefined && Number(expected) !== skipped.length;
  if (isOdd) console.log(`${skipped.length} tests were skipped, ${expected} were expected.`);
  // A run that ends with an error has failed, whatever it counted: a hook, or a file that cannot be
  // loaded.
  const failed = Math.max(told + (isOdd ? 1 : 0), isGood ? 0 : 1);
  const ending = skipped.length === 0 ? "" : `, ${skipped.length} skipped`;
  console.log(`${passed} passed, ${failed} failed${ending}`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

/** The emulator's log is printed when something failed. */
function keepLog(folder: string): void {
  const log = join(folder, "emulator.log");
  if (!existsSync(log)) return;
  mkdirSync(".fermata", { recursive: true });
  copyFileSync(log, ".fermata/e2e-emulator.log");
  console.error("What the emulator said: .fermata/e2e-emulator.log");
}

function tellHow({ aws, endedBy }: E2ePlace, file: string): void {
  const settings = Object.entries(aws.environment).filter(([name]) => name.startsWith("AWS_"));
  console.log(`
It is left running. To run tests against it again, then to end it:
  export FERMATA_E2E_TARGET=${file} ${settings.map(([name, value]) => `${name}=${value}`).join(" ")}
  npx vitest run --project end-to-end
  ${endedBy}
`);
}

function tell(line: string): void {
  console.log(`${((performance.now() - began) / 1_000).toFixed(1).padStart(5)} s  ${line}`);
}
