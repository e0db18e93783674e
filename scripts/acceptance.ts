// Lists which promises of docs/reference/promises.md have a passing test, by the numbers in test names.
//
//   npm run acceptance                          runs the tests
//   npm run acceptance -- --reports FOLDER      reads what `npm run check -- --reports FOLDER` left

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { keptIn } from "./acceptance/promises.ts";
import { readCommandLine } from "./command-line.ts";
import { parseReport, runTests, type Test } from "./vitest-report.ts";

/** The page with the meaning of each number, and whether the promise is already kept. */
const PROMISES = fileURLToPath(new URL("../docs/reference/promises.md", import.meta.url));
const PROMISED = keptIn(readFileSync(PROMISES, "utf8"));

const { reports } = readCommandLine(import.meta.filename, {
  options: { reports: { type: "string" } },
}).values;
process.exitCode = tell(reports === undefined ? await allTests() : storedTests(reports));

function storedTests(folder: string): readonly Test[] {
  return readdirSync(folder).flatMap((name) => parseReport(join(folder, name)));
}

async function allTests(): Promise<readonly Test[]> {
  const { tests, output, code } = await runTests(
    ["unit", "unit alone", "contract", "simulation"],
    {},
  );
  if (code !== 0) console.error(output);
  return tests;
}

/** A number is shown when at least one test names it and every test that names it passes. */
function tell(tests: readonly Test[]): number {
  const lines = new Map<string, Test[]>();
  for (const test of tests) {
    for (const [line] of test.name.matchAll(/\b[FSRJDX]\d+\b|(?<=\()T\d+(?=\))/g)) {
      lines.set(line, [...(lines.get(line) ?? []), test]);
    }
  }
  const isShown = (line: string) => lines.get(line)?.every(({ passed }) => passed) ?? false;
  for (const line of [...new Set([...PROMISED, ...lines.keys()])].sort(byLetterAndNumber)) {
    const proofs = lines.get(line) ?? [];
    const promise = PROMISED.includes(line) ? "promised" : "beyond";
    const verdict = isShown(line) ? "shown" : proofs.length === 0 ? "MISSING" : "FAILING";
    console.log(
      `${line.padEnd(4)} ${promise.padEnd(8)} ${verdict.padEnd(7)} ${proofs[0]?.name ?? ""}`,
    );
  }
  const missing = PROMISED.filter((line) => !isShown(line));
  console.log(`${PROMISED.length - missing.length} of ${PROMISED.length} promised lines are shown`);
  if (missing.length > 0) console.log(`not shown: ${missing.join(", ")}`);
  return missing.length === 0 ? 0 : 1;
}

function byLetterAndNumber(one: string, other: string): number {
  return one.localeCompare(other, "en", { numeric: true });
}
