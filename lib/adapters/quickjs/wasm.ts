import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { PROTOCOL } from "./prelude.ts";
import { type CompiledModule, compile, importsOf } from "./web-assembly.ts";

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
  const module = compile(withGuardedMemory(bytes));
  if (importsOf(module)[GROW_IMPORT.at]?.name !== GROW_IMPORT.name) throw unknownBuild();
  return { name: `${PACKAGE}#${hash}/${PROTOCOL}`, module };
}

/** A test compares it with the package that is installed. */
export const PACKAGE = "quickjs-wasi@3.6.2";

/**
 * The import that stands in for `memory.grow`. It has the same type, and QuickJS has no use for it:
 * there are no files to close.
 */
export const GROW_IMPORT = { at: 7, name: "fd_close" } as const;

/**
 * Makes QuickJS ask the driver whenever its allocator needs more memory: the driver can then end a
 * machine that wants too much, before code inside could catch an error and go on with it.
 */
function withGuardedMemory(bytes: Buffer): Buffer {
  const guarded = Buffer.from(bytes);
  let places = 0;
  for (let at = guarded.indexOf(GROW); at >= 0; at = guarded.indexOf(GROW, at)) {
    guarded.set(CALL_IMPORT, at);
    places += 1;
  }
  if (places !== GROW_PLACES) throw unknownBuild();
  return guarded;
}

/** `memory.grow 0`, and `local.tee 0, i32.const -1, i32.eq` behind it. */
const GROW = Buffer.from([0x40, 0x00, 0x22, 0x00, 0x41, 0x7f, 0x46]);
/** `call 7`, which has as many bytes as `memory.grow 0`. */
const CALL_IMPORT = [0x10, GROW_IMPORT.at];
/** In `sbrk`, and where the compiler has put a copy of it into the allocator. */
const GROW_PLACES = 2;

const unknownBuild = (): Error =>
  new Error(`The QuickJS that is installed is not the build of ${PACKAGE}: install it again.`);
