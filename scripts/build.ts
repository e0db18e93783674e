import { rmSync } from "node:fs";
import { runCommand } from "./run-command.ts";

// Builds dist/ anew: what an earlier build left behind must not be published.
rmSync("dist", { recursive: true, force: true });
const { code, output } = await runCommand("tsc", ["-p", "tsconfig.build.json"]);
process.stdout.write(output);
process.exitCode = code;
