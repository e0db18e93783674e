import { dirname } from "node:path";
import { type Bundled, bundleWorkflows } from "../bundler/bundle-workflows.ts";
import { fileNamer } from "../bundler/diagnostics.ts";
import { notExported } from "../bundler/not-exported.ts";
import { pathOf } from "../bundler/source-files.ts";
import type { Diagnostic } from "../definition/diagnostic.ts";
import { analyseBundle } from "../frontends/code/analyse.ts";

/** Bundles a file, and finds at once what bundling and what deploying the bundle would refuse. */
export async function checkedBundle(
  entry: string | URL,
  nameOf: (path: string) => string = fileNamer(dirname(pathOf(entry))),
): Promise<Bundled> {
  const bundled = await bundleWorkflows(entry, nameOf);
  const { source, inputs } = bundled;
  if (source === undefined) return bundled;
  const diagnostics = [
    ...bundled.diagnostics,
    ...analysed(source, bundled.diagnostics, nameOf),
    ...notExported(pathOf(entry), nameOf),
  ];
  const ok = diagnostics.every(({ severity }) => severity !== "error");
  return { ok, source, diagnostics, inputs };
}

/** The steps of a file that could not be split are still in the bundle: they are no part of a workflow. */
function analysed(
  source: string,
  before: readonly Diagnostic[],
  nameOf: (path: string) => string,
): readonly Diagnostic[] {
  const unsplit = new Set(before.flatMap(({ code, file }) => (code === "code/syntax" ? file : [])));
  return analyseBundle(source)
    .map((found) => (found.file === undefined ? found : { ...found, file: nameOf(found.file) }))
    .filter(({ file }) => !unsplit.has(file));
}
