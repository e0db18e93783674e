import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, test, vi } from "vitest";
import { MUTANTS } from "./mutants/all-mutants.ts";
import { patchesOf } from "./mutants/protocol.ts";

/** Each is a separate process; the machine may be busy. */
vi.setConfig({ maxConcurrency: 2 });
afterAll(() => vi.resetConfig());

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/**
 * Processes share what they have compiled; it is cached by content, so a patched file is another
 * entry.
 */
const COMPILED = await mkdtemp(join(tmpdir(), "fermata-mutants-"));
afterAll(() => rm(COMPILED, { recursive: true, force: true }));

describe("a mutant", () => {
  for (const mutant of MUTANTS) {
    const { name, without } = mutant;
    test(`matches one place of the source: ${name}`, async () => {
      for (const { file, find } of patchesOf(mutant)) {
        const source = await readFile(`${ROOT}${file}`, "utf8");

        expect(source.split(find).length - 1).toBe(1);
      }
    });

    test.concurrent(`is reached and killed: ${name}, without the rule that ${without}`, async () => {
      const { stdout } = await run(process.execPath, ["scripts/simulate.ts", "--mutant", name], {
        cwd: ROOT,
        env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
      });

      expect(stdout).toMatch(new RegExp(`^${name}: killed by seed \\d+ `));
    });
  }
});
