import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { PROTOCOL } from "./prelude.ts";
import { type CompiledModule, compile } from "./web-assembly.ts";

/** The pinned QuickJS, compiled on first use. */
export type Engine = Readonly<{ name: string; module: CompiledModule }>;

let loaded: Engine | undefined;

/** Loads the engine once for the whole process. */
export function quickjs(): Engine {
  loaded ??= load();
  return loaded;
}

function load(): Engine {
  const require = createRequire(import.meta.url);
  const bytes = readFileSync(require.resolve("quickjs-wasi/quickjs.wasm"));
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  return {
    name: `${PACKAGE}#${hash}/${PROTOCOL}`,
    module: compile(bytes),
  };
}

/** A test compares it with the package that is installed. */
export const PACKAGE = "quickjs-wasi@3.6.2";
