import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { MUTANTS } from "./all-mutants.ts";

/** Each is a process of its own; the machine has other work to do. */
vi.setConfig({ maxConcurrency: 2 });

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

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
