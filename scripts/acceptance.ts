// Lists which acceptance lines have a passing test, by the numbers that test names carry.
//
//   npm run acceptance                          runs the tests
//   npm run acceptance -- --reports FOLDER      reads what `npm run check -- --reports FOLDER` left

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { parseReport, runTests, type Test } from "./vitest-report.ts";

/** The lines that this release promises. */
const PROMISED = [
  ...["F1", "F2", "F3", "F4", "F5", "F6", "F7"],
  ...["F10", "F11", "F12", "F13", "F14", "F15", "F16", "F17", "F18", "F19", "F20", "F21"],
  ...["F30", "F31", "F32", "F33", "F34", "F35", "F36", "F37", "F38", "F39", "F40", "F41"],
  ...["F42", "F43", "F44", "F45", "F46", "F47"],
  ...["F50", "F51", "F54", "F55", "F57", "F58", "F62", "F65", "F66", "F67", "F68"],
  ...["S1", "S2", "S3", "S4", "S5"],
  ...["R13", "R14", "R15", "R16", "R20"],
  ...["D6", "D7", "D8", "D9", "D10", "D11", "D19", "D22"],
  ...["J13", "J17", "J18"],
];

const { reports } = parseArgs({ options: { reports: { type: "string" } } }).values;
process.exitCode = tell(reports === undefined ? await allTests() : storedTests(reports));

function storedTests(folder: string): readonly Test[] {
  return readdirSync(folder).flatMap((name) => parseReport(join(folder, name)));
}

async function allTests(): Promise<readonly Test[]> {
  const { tests, output, code } = await runTests(["unit", "contract", "simulation"], {});
  if (code !== 0) console.error(output);
  return tests;
}

/** A line is shown when at least one test names it and every test that names it passes. */
function tell(tests: readonly Test[]): number {
  const lines = new Map<string, Test[]>();
  for (const test of tests) {
    for (const [line] of test.name.matchAll(/\b[FSRJDX]\d+\b/g)) {
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
