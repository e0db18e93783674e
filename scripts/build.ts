// Builds dist/ from scratch: leftovers of an earlier build must not be published.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FUNCTIONS, functionCode } from "../cdk/bundle.ts";
import { readCommandLine } from "./command-line.ts";
import { runCommand } from "./run-command.ts";

readCommandLine(import.meta.filename, {});
rmSync("dist", { recursive: true, force: true });
const { code, output } = await runCommand("tsc", ["-p", "tsconfig.build.json"]);
process.stdout.write(output);
process.exitCode = code;

// Lambda functions are published as one file each: deploying them needs no other packages.
for (const name of [...FUNCTIONS, "describe-tasks"] as const) {
  const folder = join("dist", "functions", name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "index.mjs"), functionCode(name));
}
