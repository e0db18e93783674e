import { existsSync } from "node:fs";
import { join } from "node:path";
import { type BuildOptions, buildSync } from "esbuild";

/** The functions that an installation is made of, by folder. */
export const FUNCTIONS = [
  "http-api",
  "compile",
  "run-task",
  "advance",
  "fire-timer",
  "fan-out-signal",
  "sweep",
  "dead-letters",
] as const;

export type FunctionName = (typeof FUNCTIONS)[number];

/** Programs that run while a stack is synthesised, not in Lambda. */
export type ToolName = "describe-tasks";

/** Beside this file both in the repository and in the published package. */
const HOME = join(import.meta.dirname, "..", "functions");

/** Packages that are CommonJS call `require` for Node's own modules. */
const REQUIRE =
  'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);';

/** The one file that a function is: as it was published, or else made from its source, below `folder`. */
export function functionFile(name: FunctionName | ToolName, folder: string): string {
  const published = join(HOME, name, "index.mjs");
  if (existsSync(published)) return published;
  const made = join(folder, name, "index.mjs");
  if (!existsSync(made)) bundle(join(HOME, name, "index.ts"), made);
  return made;
}

/** Makes one ES module out of an entry file and everything that it imports. */
export function bundle(entry: string, outfile: string): void {
  buildSync({ ...FOR_LAMBDA, entryPoints: [entry], outfile });
}

/** The same for source text; `folder` is where its imports are looked up from. */
export function bundleText(text: string, folder: string, outfile: string): void {
  buildSync({ ...FOR_LAMBDA, stdin: { contents: text, resolveDir: folder }, outfile });
}

const FOR_LAMBDA: BuildOptions = {
  bundle: true,
  platform: "node",
  target: "node24",
  format: "esm",
  mainFields: ["module", "main"],
  minify: true,
  sourcemap: false,
  legalComments: "external",
  banner: { js: REQUIRE },
  logLevel: "warning",
};
