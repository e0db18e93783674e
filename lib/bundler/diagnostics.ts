import { isAbsolute, relative, resolve } from "node:path";
import type { BuildFailure, Message } from "esbuild";
import type { Diagnostic } from "../definition/diagnostic.ts";
import { SDK } from "./author-file.ts";
import type { BundlerCode } from "./codes.ts";
import { ENGINE_NAMESPACE } from "./engine-files.ts";

/** How files are named in diagnostics: from the current folder, or from the entry's if outside of it. */
export function fileNamer(folder: string): (path: string) => string {
  return (path) => {
    const absolute = resolve(folder, path);
    const fromHere = relative(process.cwd(), absolute);
    const isOutside = fromHere.startsWith("..") || isAbsolute(fromHere);
    return isOutside ? relative(folder, absolute) : fromHere;
  };
}

/** A diagnostic of the bundler; `line` and `column` count from 1. */
export function bundlerDiagnostic(
  finding: Omit<Diagnostic, "code"> & Readonly<{ code: BundlerCode }>,
): Diagnostic {
  return finding;
}

/** What esbuild found. A name that it cannot resolve has a code of its own. */
export function diagnosticOf(
  message: Message,
  severity: Diagnostic["severity"],
  nameOf: (path: string) => string,
): Diagnostic {
  const { location } = message;
  const text = message.text.replace(ENGINE_FILE, JSON.stringify(SDK));
  const isUnresolved = text.startsWith("Could not resolve");
  const isUnknown = unknownImport(message) !== undefined;
  const code = isUnresolved
    ? "code/unresolved-import"
    : isUnknown
      ? "code/unknown-import"
      : severitiesCode(severity);
  const place =
    location === null
      ? {}
      : { file: nameOf(location.file), line: location.line, column: location.column + 1 };
  const hint = isUnresolved ? UNRESOLVED_HINT : isUnknown ? UNKNOWN_HINT : HINTS[severity];
  return bundlerDiagnostic({ severity, code, message: sentence(text), ...place, hint });
}

/** A file of the SDK, as esbuild names it. */
const ENGINE_FILE = new RegExp(`"${ENGINE_NAMESPACE}:[^"]*"`);

/** The name that is imported from the SDK, which does not have it, if a message is about that. */
export function unknownImport({ text }: Message): string | undefined {
  if (!text.startsWith("No matching export in") || !ENGINE_FILE.test(text)) return undefined;
  return / for import "(.+)"$/.exec(text)?.[1];
}

/** What esbuild refused, as diagnostics; anything else is a fault of ours. */
export function failuresOf(
  error: unknown,
  nameOf: (path: string) => string,
): readonly Diagnostic[] {
  const { errors, warnings } = error as Partial<BuildFailure>;
  if (errors === undefined) throw error;
  return [
    ...errors.map((one) => diagnosticOf(one, "error", nameOf)),
    ...(warnings ?? []).map((one) => diagnosticOf(one, "warning", nameOf)),
  ];
}

/** The file cannot be read at all. */
export function unreadable(file: string): Diagnostic {
  return bundlerDiagnostic({
    severity: "error",
    code: "code/unreadable-file",
    message: `The file ${file} cannot be read.`,
    file,
    hint: "Check the path, and that the file may be read.",
  });
}

/** What to do about an import that cannot be resolved. */
export const UNRESOLVED_HINT =
  "Install the package, or correct the path; relative ones start with `./`.";

const UNKNOWN_HINT = "Correct the name, or leave it out of the import.";

const HINTS = {
  error: "Correct the file at this place.",
  warning: "Check the file at this place.",
} as const;

const severitiesCode = (severity: Diagnostic["severity"]): BundlerCode =>
  severity === "error" ? "code/syntax" : "code/suspicious";

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
