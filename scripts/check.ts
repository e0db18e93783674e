// Runs every check of the repository, the fast ones first; a row with a failure ends the run.
//
//   npm run check                     everything
//   npm run check -- --only types     the steps whose name begins with "types"
//   npm run check -- --reports DIR    leaves the tests' reports in that folder

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCommandLine } from "./command-line.ts";
import { runCommand } from "./run-command.ts";
import { runTests } from "./vitest-report.ts";

type Result = Readonly<{ passed: number; failed: number; output: string }>;
type Step = Readonly<{ name: string; needs?: string; run: () => Promise<Result> }>;

/** The folders with TypeScript; those that do not exist yet are checked once they do. */
const ROOMS = ["lib", "cli", "functions", "cdk", "examples", "bench", "scripts", "test"];

const { only, reports } = readCommandLine(import.meta.filename, {
  options: { only: { type: "string" }, reports: { type: "string" } },
}).values;

/** Warnings fail; hints are left out: a rule either fails the build or is not enabled. */
const BIOME = ["--error-on-warnings", "--diagnostic-level=warn", "--colors=off"];

/**
 * The steps of a row run concurrently, for a machine with two cores; tests use both by themselves.
 */
const ROWS: readonly (readonly Step[])[] = [
  [
    command("lint: format and style", "biome", "ci", ...BIOME),
    command("lint: lost promises", "oxlint", "--type-aware", "--deny-warnings"),
  ],
  [
    command("types", "tsc", "-p", "tsconfig.json"),
    { ...command("types: the pure rooms", "tsc", "-p", "tsconfig.pure.json"), needs: "lib/kernel" },
    command("imports", "depcruise", "--output-type", "err-long", ...ROOMS.filter(existsSync)),
    command("dead code", "knip", "--no-progress"),
  ],
  [tests("tests: kernel, with coverage", ["kernel"], "--coverage.enabled")],
  [tests("tests: unit and contract", ["unit", "unit alone", "contract"])],
  [{ ...tests("tests: simulation", ["simulation"]), needs: "test/simulation" }],
  [{ ...tests("tests: infra", ["infra"]), needs: "test/infra" }],
  [
    { name: "cdk: synth", needs: "cdk/app.ts", run: checkSynthesis },
    { ...command("package: build", "node", "scripts/build.ts"), needs: "lib/index.ts" },
  ],
  [{ name: "package: as published", needs: "lib/index.ts", run: checkPackage }],
];

process.exitCode = await runAll();

async function runAll(): Promise<number> {
  let passed = 0;
  let failed = 0;
  for (const row of ROWS) {
    const wanted = row.filter(({ name }) => name.startsWith(only ?? ""));
    for (const result of await Promise.all(wanted.map(runStep))) {
      passed += result.passed;
      failed += result.failed;
    }
    if (failed > 0) break;
  }
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

/** Runs a step and reports its result, with its output if it failed. */
async function runStep({ name, needs, run }: Step): Promise<Result> {
  if (needs !== undefined && !existsSync(needs)) {
    console.log(`-    ${name}: ${needs} does not exist yet`);
    return { passed: 0, failed: 0, output: "" };
  }
  const started = performance.now();
  const result = await run();
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${result.failed === 0 ? "ok  " : "FAIL"} ${name} (${seconds} s)`);
  if (result.failed > 0) console.log(result.output);
  return result;
}

/** A step that is one command: it counts as one check. */
function command(name: string, program: string, ...args: string[]): Step {
  return {
    name,
    run: async () => {
      const { code, output } = await runCommand(program, args);
      return code === 0 ? { passed: 1, failed: 0, output } : { passed: 0, failed: 1, output };
    },
  };
}

/** A step that runs tests: each counts. A run that fails with every test green (coverage) counts once. */
function tests(name: string, projects: readonly string[], ...options: string[]): Step {
  return {
    name,
    run: async () => {
      const run = await runTests(projects, { options, keepIn: reports });
      const passed = run.tests.filter((test) => test.passed).length;
      const failed = run.tests.length - passed;
      const broken = run.code !== 0 || run.tests.length === 0;
      return { passed, failed: broken ? Math.max(1, failed) : failed, output: run.output };
    },
  };
}

/** Synthesises what `npx cdk deploy` would deploy, in a temporary folder. */
async function checkSynthesis(): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "fermata-synth-"));
  try {
    const args = ["synth", "--quiet", "--no-notices", `--output=${folder}`];
    const { code, output } = await runCommand("cdk", args);
    return code === 0 ? { passed: 1, failed: 0, output } : { passed: 0, failed: 1, output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Packs the package as npm would publish it, and checks the tarball as a user would see it. */
async function checkPackage(): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "fermata-package-"));
  try {
    const packed = await runCommand("npm", [
      "pack",
      "--ignore-scripts",
      "--loglevel=error",
      `--pack-destination=${folder}`,
    ]);
    const tarball = join(folder, packed.output.trim().split("\n").at(-1) ?? "");
    const looks = [
      packed,
      await runCommand("publint", [tarball, "--strict"]),
      await runCommand("attw", [tarball, "--profile", "esm-only"]),
    ];
    const failures = looks.filter(({ code }) => code !== 0);
    return {
      passed: looks.length - failures.length,
      failed: failures.length,
      output: failures.map(({ output }) => output).join("\n"),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
