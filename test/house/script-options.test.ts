import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const LIBRARIES = ["command-line.ts", "run-command.ts", "vitest-report.ts"];
const SCRIPTS = [
  ...readdirSync(join(ROOT, "scripts"))
    .filter((name) => name.endsWith(".ts") && !LIBRARIES.includes(name))
    .map((name) => `scripts/${name}`),
  "bench/main.ts",
  "bench/store-ceiling.ts",
];

function run(...args: readonly string[]) {
  const options = { cwd: ROOT, encoding: "utf8", timeout: 150_000 } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
  return { status, stdout, stderr };
}

describe("a script", () => {
  test.for(SCRIPTS)(
    "%s has a header comment, and parses its options with command-line.ts",
    (script) => {
      const source = readFileSync(join(ROOT, script), "utf8");

      expect(source).toMatch(/^\/\/ [A-Z].+\./s);
      expect(source).toMatch(/(readCommandLine|printHelp)\(import\.meta\.filename/);
      expect(source).not.toMatch(/parseArgs|argv\.(includes|indexOf)/);
    },
  );

  test.for(["scripts/simulate.ts", "bench/main.ts"])("%s prints its help", (script) => {
    const { status, stdout, stderr } = run(script, "--help");

    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^[A-Z].+ {2}npm run [a-z]+ /s);
    expect(stdout).not.toContain("import ");
  });

  test.for([
    ["--nonsense", "Unknown option '--nonsense'. --help lists the options."],
    ["--seed=x", '--seed is "x", but must be a whole number.'],
    ["--mode=x", '--mode is "x", but must be memory or durable.'],
  ])("refuses %s in one sentence", ([option = "", sentence = ""]) => {
    const { status, stdout, stderr } = run("scripts/simulate.ts", option);

    expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: "", stderr: `${sentence}\n` });
  });
});
