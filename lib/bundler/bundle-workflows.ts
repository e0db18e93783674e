import { dirname } from "node:path";
import { type BuildFailure, type BuildOptions, build } from "esbuild";
import type { Diagnostic } from "../definition/diagnostic.ts";
import { parseSource } from "./author-file.ts";
import {
  bundlerDiagnostic,
  diagnosticOf,
  failuresOf,
  fileNamer,
  unknownImport,
  unreadable,
} from "./diagnostics.ts";
import { BUNDLE_ENTRY } from "./entry-module.ts";
import { MissingModules } from "./missing-modules.ts";
import { pathOf, readEntry } from "./source-files.ts";
import { workflowPlugin } from "./workflow-plugin.ts";

/**
 * One text for the sandbox, or every error at once, and the warnings; `inputs` are the files that
 * were read. A text that is refused is there to be checked further, if esbuild could make one.
 */
export type Bundled = Readonly<
  | { ok: true; source: string; diagnostics: readonly Diagnostic[]; inputs: readonly string[] }
  | { ok: false; source?: string; diagnostics: readonly Diagnostic[]; inputs: readonly string[] }
>;

/**
 * Bundles the workflows of a file, given by its absolute path or URL, without the bodies of its
 * steps. The same files give the same text, wherever they lie; problems are returned, not thrown.
 * `nameOf` names files, given from the folder of the entry, in diagnostics.
 */
export async function bundleWorkflows(
  entry: string | URL,
  nameOf: (path: string) => string = fileNamer(dirname(pathOf(entry))),
): Promise<Bundled> {
  const path = pathOf(entry);
  if (readEntry(path) === undefined) {
    return { ok: false, diagnostics: [unreadable(nameOf(path))], inputs: [] };
  }
  const files: Files = { path, inputs: new Set([path]), nameOf };
  try {
    return await bundleOnce(files);
  } catch (error) {
    const unknown = unknownImports(error);
    const diagnostics = failuresOf(error, nameOf);
    if (unknown === undefined) return { ok: false, diagnostics, inputs: sorted(files.inputs) };
    // With these names, everything else that is wrong is found as well.
    const rest = await bundleOnce(files, unknown).catch(() => undefined);
    return rest === undefined
      ? { ok: false, diagnostics, inputs: sorted(files.inputs) }
      : { ...rest, ok: false, diagnostics: [...onlyErrors(diagnostics), ...rest.diagnostics] };
  }
}

type Files = Readonly<{
  path: string;
  /** Every file that was read. */
  inputs: Set<string>;
  nameOf: (path: string) => string;
}>;

/** Throws what esbuild refuses. `added` are names that the SDK shall have besides its own. */
async function bundleOnce(
  { path, inputs, nameOf }: Files,
  added: readonly string[] = [],
): Promise<Bundled> {
  const missing = new MissingModules();
  const unsplit = new Set<string>();
  const plugins = [
    workflowPlugin({ entry: path, missing, inputs, unsplit, added }),
    missing.plugin,
  ];
  const result = await build({ ...optionsFor(path), plugins });
  const warnings = result.warnings.map((one) => diagnosticOf(one, "warning", nameOf));
  const errors = [
    ...[...unsplit].toSorted().map((one) => unsplittable(one, nameOf)),
    ...missing.left(result.metafile, nameOf),
  ];
  const source = result.outputFiles[0]?.text ?? "";
  const diagnostics = [...errors, ...warnings];
  return { ok: errors.length === 0, source, diagnostics, inputs: sorted(inputs) };
}

/** The names that the SDK lacks, where nothing else keeps esbuild from making a bundle. */
function unknownImports(error: unknown): readonly string[] | undefined {
  const { errors = [] } = error as Partial<BuildFailure>;
  const names = errors.map(unknownImport);
  return names.every((name) => name !== undefined) ? [...new Set(names)] : undefined;
}

const onlyErrors = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.filter(({ severity }) => severity === "error");

const sorted = (paths: ReadonlySet<string>): readonly string[] => [...paths].toSorted();

/** esbuild reads what the parser that finds steps does not know yet. */
function unsplittable(path: string, nameOf: (path: string) => string): Diagnostic {
  const parsed = parseSource(path, readEntry(path) ?? "");
  const isSyntax = !parsed.ok && parsed.why === "syntax";
  const reason = isSyntax ? parsed.problem.replace(/\.$/, "") : "it is nested too deeply";
  return bundlerDiagnostic({
    severity: "error",
    code: "code/syntax",
    message: `The steps of the file cannot be told from its workflows: ${reason}.`,
    file: nameOf(path),
    ...(isSyntax ? { line: parsed.line, column: parsed.column } : {}),
    hint: "Write this place in older syntax, or move it into a file without steps.",
  });
}

function optionsFor(path: string) {
  const folder = dirname(path);
  return {
    entryPoints: [BUNDLE_ENTRY],
    absWorkingDir: folder,
    outdir: folder,
    write: false,
    metafile: true,
    bundle: true,
    format: "iife",
    globalName: "__workflows",
    platform: "neutral",
    mainFields: ["module", "main"],
    target: "es2023",
    treeShaking: true,
    define: { FERMATA_DECLARES_EXPORTS: "true" },
    charset: "utf8",
    legalComments: "none",
    sourcemap: "inline",
    sourcesContent: false,
    logLevel: "silent",
  } satisfies BuildOptions;
}
