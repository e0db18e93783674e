import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import type { Diagnostic } from "../definition/diagnostic.ts";
import { registerAuthorHooks } from "./author-hooks.ts";
import { fileNamer, unreadable } from "./diagnostics.ts";
import { followImports } from "./follow-imports.ts";
import { loadFailure } from "./load-failure.ts";
import { type Exports, nativeImport } from "./native-import.ts";
import { forgetLoaded, markChanged } from "./reloads.ts";
import { pathOf, readEntry } from "./source-files.ts";

/** The exports of an author's file on the host, or every error; `inputs` are the files that were read. */
export type Loaded = Readonly<
  | { ok: true; module: Exports; inputs: readonly string[] }
  | { ok: false; diagnostics: readonly Diagnostic[]; inputs: readonly string[] }
>;

/**
 * Imports an author's file, given by its absolute path or URL, so that its steps can run. It is the
 * module that the rest of the program gets, too. With a higher `generation` than before, files that
 * changed are loaded anew, and those that import them; problems are returned.
 */
export async function loadSteps(
  entry: string | URL,
  { generation = 0, isOnce = false }: LoadOptions = {},
): Promise<Loaded> {
  const path = pathOf(entry);
  const nameOf = fileNamer(dirname(path));
  if (readEntry(path) === undefined) {
    return { ok: false, diagnostics: [unreadable(nameOf(path))], inputs: [] };
  }
  registerAuthorHooks();
  const followed = isOnce ? undefined : await followImports(path, nameOf);
  // Before they are read to be run: what is saved in between counts as a change the next time.
  if (followed !== undefined) markChanged(followed, generation);
  try {
    const module = await nativeImport(pathToFileURL(path).href);
    return { ok: true, module, inputs: followed?.inputs ?? [path] };
  } catch (error) {
    const { inputs, errors } = followed ?? (await followImports(path, nameOf));
    forgetLoaded(inputs);
    const diagnostics = errors.length > 0 ? errors : [loadFailure(error, { path, inputs, nameOf })];
    return { ok: false, diagnostics, inputs };
  }
}

type LoadOptions = Readonly<{
  generation?: number;
  /** The file is never loaded anew: `inputs` need not be found, which starts esbuild. */
  isOnce?: boolean;
}>;
