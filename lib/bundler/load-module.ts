import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import type { Diagnostic } from "../definition/diagnostic.ts";
import { parseSourceMap } from "../frontends/code/source-map.ts";
import { bundlerDiagnostic, failuresOf, fileNamer, unreadable } from "./diagnostics.ts";
import { hostPlugin } from "./host-plugin.ts";
import { pathOf, readEntry } from "./source-files.ts";

/** The exports of an author's file on the host, or every error; `inputs` are the files that were read. */
export type Loaded = Readonly<
  | { ok: true; module: Readonly<Record<string, unknown>>; inputs: readonly string[] }
  | { ok: false; diagnostics: readonly Diagnostic[]; inputs: readonly string[] }
>;

/**
 * Imports an author's file, given by its absolute path or URL, so that its steps can run. A file
 * that changed is loaded anew, one that did not is the same module; problems are returned.
 */
export async function loadSteps(entry: string | URL): Promise<Loaded> {
  const path = pathOf(entry);
  const nameOf = fileNamer(dirname(path));
  if (readEntry(path) === undefined) {
    return { ok: false, diagnostics: [unreadable(nameOf(path))], inputs: [] };
  }
  const inputs = new Set([path]);
  try {
    const text = await hostText(path, inputs);
    const imported = await importText(text, path, nameOf);
    return { ...imported, inputs: [...inputs].toSorted() };
  } catch (error) {
    const diagnostics = failuresOf(error, nameOf);
    return { ok: false, diagnostics, inputs: [...inputs].toSorted() };
  }
}

async function hostText(path: string, inputs: Set<string>): Promise<string> {
  const folder = dirname(path);
  const { outputFiles } = await build({
    entryPoints: [path],
    absWorkingDir: folder,
    outdir: folder,
    write: false,
    bundle: true,
    format: "esm",
    platform: "node",
    mainFields: ["main"],
    target: "node24",
    charset: "utf8",
    sourcemap: "inline",
    sourcesContent: false,
    logLevel: "silent",
    banner: { js: requireFor(path) },
    plugins: [hostPlugin(inputs)],
  });
  // Stack traces name the script so, and not by its whole text.
  return `${outputFiles[0]?.text ?? ""}//# sourceURL=${scriptName(path)}\n`;
}

/** Files in CommonJS call `require`, which a module has not. */
function requireFor(path: string): string {
  const url = JSON.stringify(pathToFileURL(path).href);
  return `import { createRequire as __createRequire } from "node:module"; const require = __createRequire(${url});`;
}

function scriptName(path: string): string {
  return `fermata-steps:${pathToFileURL(path).pathname}`;
}

const SCHEME = "data:text/javascript;base64,";

type Imported =
  | Readonly<{ ok: true; module: Readonly<Record<string, unknown>> }>
  | Readonly<{ ok: false; diagnostics: readonly Diagnostic[] }>;

async function importText(
  text: string,
  path: string,
  nameOf: (path: string) => string,
): Promise<Imported> {
  const encoded = Buffer.from(text).toString("base64");
  try {
    const module = await import(/* @vite-ignore */ `${SCHEME}${encoded}`);
    return { ok: true, module };
  } catch (error) {
    const place = placeOf(error, text, path, nameOf);
    return { ok: false, diagnostics: [loadFailure(error, place)] };
  }
}

function loadFailure(error: unknown, place: Pick<Diagnostic, "file" | "line" | "column">) {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return bundlerDiagnostic({
    severity: "error",
    code: "code/load-failed",
    message: `The file fails while it is loaded: ${text.replace(/\.$/, "")}.`,
    ...place,
    hint: "Let the code at the top of the file succeed without the services that its steps call.",
  });
}

/** The first place of the author's files in the stack; the entry file where there is none. */
function placeOf(
  error: unknown,
  text: string,
  path: string,
  nameOf: (path: string) => string,
): Pick<Diagnostic, "file" | "line" | "column"> {
  const stack = error instanceof Error ? String(error.stack) : "";
  const isOurs = (line: string) => line.includes(scriptName(path)) || line.includes(SCHEME);
  const frame = stack.split("\n").find(isOurs);
  const [, line, column] = /:(\d+):(\d+)\)?$/.exec(frame ?? "") ?? [];
  const origin = parseSourceMap(text).originalOf(Number(line), Number(column));
  return origin === undefined ? { file: nameOf(path) } : { ...origin, file: nameOf(origin.file) };
}
