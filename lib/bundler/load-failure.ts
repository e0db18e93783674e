import { pathToFileURL } from "node:url";
import type { Diagnostic } from "../definition/diagnostic.ts";
import { parseSourceMap } from "../frontends/code/source-map.ts";
import { bundlerDiagnostic, UNRESOLVED_HINT } from "./diagnostics.ts";
import { transformedText } from "./host-source.ts";

type About = Readonly<{
  path: string;
  /** The author's files. */
  inputs: readonly string[];
  nameOf: (path: string) => string;
}>;

/** Why Node could not load a file. */
export function loadFailure(error: unknown, about: About): Diagnostic {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const reason = text.replace(/\.$/, "");
  const importer = importerOf(error);
  if (importer !== undefined) {
    return bundlerDiagnostic({
      severity: "error",
      code: "code/unresolved-import",
      message: `${reason}.`,
      file: about.nameOf(importer),
      hint: UNRESOLVED_HINT,
    });
  }
  return bundlerDiagnostic({
    severity: "error",
    code: "code/load-failed",
    message: `The file fails while it is loaded: ${reason}.`,
    ...placeOf(error, about),
    hint: "Let the code at the top of the file succeed without the services that its steps call.",
  });
}

/** The file whose import Node could not resolve. */
function importerOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || error.code !== "ERR_MODULE_NOT_FOUND") {
    return undefined;
  }
  return / imported from (\/.+|[A-Z]:.+)$/.exec(error.message)?.[1];
}

type Place = Pick<Diagnostic, "file" | "line" | "column">;

/** The first place of the author's files in the stack; the entry file where there is none. */
function placeOf(error: unknown, { path, inputs, nameOf }: About): Place {
  const lines = error instanceof Error ? String(error.stack).split("\n") : [];
  for (const line of lines) {
    for (const input of inputs) {
      const place = placeIn(line, input);
      if (place !== undefined) return { ...place, file: nameOf(input) };
    }
  }
  return { file: nameOf(path) };
}

function placeIn(frame: string, input: string): Pick<Place, "line" | "column"> | undefined {
  for (const name of [pathToFileURL(input).href, input]) {
    const at = frame.indexOf(name);
    if (at < 0) continue;
    const [, query = "", line, column] =
      /^(\?[\w=]+)?:(\d+)(?::(\d+))?/.exec(frame.slice(at + name.length)) ?? [];
    if (line === undefined) continue;
    const here = { line: Number(line), ...(column !== undefined && { column: Number(column) }) };
    const text = transformedText(`${pathToFileURL(input).href}${query}`);
    if (text === undefined || process.sourceMapsEnabled) return here;
    const origin = parseSourceMap(text).originalOf(here.line, here.column ?? 1);
    return origin === undefined ? {} : { line: origin.line, column: origin.column };
  }
  return undefined;
}
