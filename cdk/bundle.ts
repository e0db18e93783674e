import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type BuildOptions, buildSync } from "esbuild";

/** The functions that an installation is made of, by folder. */
export const FUNCTIONS = [
  "http-api",
  "compile",
  "run-task",
  "advance",
  "fire-timer",
  "run-work",
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

/** The bundle of a function: as published, or else built from its source. */
export function functionCode(name: FunctionName | ToolName): Uint8Array {
  const published = join(HOME, name, "index.mjs");
  if (existsSync(published)) return readFileSync(published);
  const code = made.get(name) ?? bundle({ entryPoints: [join(HOME, name, "index.ts")] });
  made.set(name, code);
  return code;
}

/** Cached in this process, so that two installations of an app are bundled once. */
const made = new Map<string, Uint8Array>();

/** Bundles source text and everything that it imports, resolved from `folder`, into one ES module. */
export function bundleText(text: string, folder: string): Uint8Array {
  return bundle({ stdin: { contents: text, resolveDir: folder } });
}

function bundle(what: BuildOptions): Uint8Array {
  const { outputFiles = [] } = buildSync({ ...FOR_LAMBDA, ...what, write: false });
  const [code] = outputFiles;
  if (code === undefined) throw new Error("esbuild made no file.");
  return code.contents;
}

const FOR_LAMBDA: BuildOptions = {
  bundle: true,
  platform: "node",
  target: "node24",
  format: "esm",
  mainFields: ["module", "main"],
  minify: true,
  sourcemap: false,
  legalComments: "inline",
  banner: { js: REQUIRE },
  logLevel: "warning",
};
