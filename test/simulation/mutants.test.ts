import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { ADOPT_MUTANTS } from "./adopt-mutants.ts";
import { HTTP_MUTANTS } from "./http-mutants.ts";
import { STEP } from "./mutants.ts";
import { PEOPLE_MUTANTS } from "./people-mutants.ts";
import { TALK_MUTANTS } from "./talk-mutants.ts";
import { TIMER_MUTANTS } from "./timer-mutants.ts";
import { VALUE_MUTANTS } from "./value-mutants.ts";

/** Each is a process of its own; the machine has other work to do. */
vi.setConfig({ maxConcurrency: 2 });

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

const MUTANTS = [
  ...STEP,
  ...TALK_MUTANTS,
  ...TIMER_MUTANTS,
  ...VALUE_MUTANTS,
  ...ADOPT_MUTANTS,
  ...HTTP_MUTANTS,
  ...PEOPLE_MUTANTS,
];

describe("a mutant", () => {
  for (const { name, file, find, without } of MUTANTS) {
    test(`fits one place of the source: ${name}`, async () => {
      const source = await readFile(`${ROOT}${file}`, "utf8");

      expect(source.split(find).length - 1).toBe(1);
    });

    test.concurrent(`is reached and killed: ${name}, without the rule that ${without}`, async () => {
      const { stdout } = await run(process.execPath, ["scripts/simulate.ts", "--mutant", name], {
        cwd: ROOT,
      });

      expect(stdout).toMatch(new RegExp(`^${name}: killed by seed \\d+ `));
    });
  }
});
