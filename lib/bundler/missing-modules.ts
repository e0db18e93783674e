import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import type { Metafile, Plugin } from "esbuild";
import type { Diagnostic } from "../definition/diagnostic.ts";
import { bundlerDiagnostic, UNRESOLVED_HINT } from "./diagnostics.ts";

const NAMESPACE = "missing";

/** An import that leads nowhere in a workflow. */
type Missing = Readonly<{ module: string; importer: string }>;

/**
 * Modules that a workflow cannot have: Node's own, and those that are not installed. Each import of
 * one gets an empty module of its own, and only those that are left in the bundle are errors: the
 * others were used by steps, or by functions that no workflow calls.
 */
export class MissingModules {
  readonly #imports: Missing[] = [];

  /** What esbuild is to load for such an import. */
  resolve(missing: Missing) {
    const at = this.#imports.push(missing) - 1;
    return { path: String(at), namespace: NAMESPACE, sideEffects: false };
  }

  /** Loads the empty modules; any name may be imported from them. */
  readonly plugin: Plugin = {
    name: "fermata-missing-modules",
    setup(build) {
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, () => ({
        contents: "module.exports = {};",
        loader: "js",
      }));
    },
  };

  /** An error for each import that is left, by file and line. */
  left(metafile: Metafile, nameOf: (path: string) => string): readonly Diagnostic[] {
    const kept = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
    return kept
      .filter(([name, { bytesInOutput }]) => name.startsWith(`${NAMESPACE}:`) && bytesInOutput > 0)
      .map(([name]) => this.#imports[Number(name.slice(NAMESPACE.length + 1))])
      .filter((missing) => missing !== undefined)
      .map((missing) => diagnosticOf(missing, nameOf))
      .toSorted((a, b) => order(a.file ?? "", b.file ?? "") || (a.line ?? 0) - (b.line ?? 0));
  }
}

const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function diagnosticOf({ module, importer }: Missing, nameOf: (path: string) => string): Diagnostic {
  const place = { file: nameOf(importer), ...lineOf(importer, module) };
  return isBuiltin(module)
    ? bundlerDiagnostic({
        severity: "error",
        code: "code/node-module",
        message: `"${module}" is a module of Node, and does not exist in a workflow.`,
        ...place,
        hint: "Use it in a step only, and call the step from the workflow.",
      })
    : bundlerDiagnostic({
        severity: "error",
        code: "code/unresolved-import",
        message: `The import "${module}" cannot be resolved.`,
        ...place,
        hint: UNRESOLVED_HINT,
      });
}

/** The first line that names the module in quotes where a module is imported. */
function lineOf(importer: string, module: string): Pick<Diagnostic, "line"> {
  const quotes = [`"${module}"`, `'${module}'`];
  const lines = readFileSync(importer, "utf8").split("\n");
  const at = lines.findIndex(
    (line) => /from|import|require/.test(line) && quotes.some((quoted) => line.includes(quoted)),
  );
  return at < 0 ? {} : { line: at + 1 };
}
