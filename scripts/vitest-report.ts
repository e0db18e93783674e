import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import { runCommand } from "./run-command.ts";

const Report = z.object({
  testResults: z.array(
    z.object({
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

export type Test = Readonly<{ name: string; passed: boolean }>;
export type TestRun = Readonly<{ code: number; output: string; tests: readonly Test[] }>;

/**
 * Runs vitest on the named projects and returns every test that ran, without skipped ones. The
 * report is kept in `keepIn` if given.
 */
export async function runTests(
  projects: readonly string[],
  { options = [], keepIn }: Readonly<{ options?: readonly string[]; keepIn?: string | undefined }>,
): Promise<TestRun> {
  const folder = keepIn ?? mkdtempSync(join(tmpdir(), "fermata-tests-"));
  const file = resolve(folder, `${projects.join("-")}.json`);
  try {
    const { code, output } = await runCommand("vitest", [
      "run",
      ...projects.flatMap((name) => ["--project", name]),
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${file}`,
      ...options,
    ]);
    return { code, output, tests: parseReport(file) };
  } finally {
    if (keepIn === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** The tests that ran according to a report of vitest's json reporter; none when there is no report. */
export function parseReport(file: string): readonly Test[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return []; // vitest ended before it could write one, and its output says why.
  }
  return Report.parse(JSON.parse(text))
    .testResults.flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === "passed" || status === "failed")
    .map(({ fullName, status }) => ({ name: fullName, passed: status === "passed" }));
}
