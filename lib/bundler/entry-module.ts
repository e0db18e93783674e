import { type AuthorFile, SDK } from "./author-file.ts";
import { entryExports } from "./entry-exports.ts";

/** The name of the bundle's own entry, and the namespace in which esbuild finds it. */
export const BUNDLE_ENTRY = "workflows";
export const ENTRY_NAMESPACE = "fermata-entry";

/**
 * The bundle's own entry. It exports the handles alone, so that esbuild drops what they do not use,
 * and declares the workflows among them: those that the author's file imports are not its own.
 */
export function entryModule(path: string, file: AuthorFile | undefined): string {
  const { names, hasOthers } =
    file === undefined ? { names: [], hasOthers: true } : entryExports(file);
  const from = JSON.stringify(path);
  if (names.length === 0 && !hasOthers) return `import ${from};`;
  const quoted = names.map((name) => JSON.stringify(name)).join(", ");
  return [
    `import { declareExports } from ${JSON.stringify(SDK)};`,
    // It imports itself: names that turn out to be types are no properties of that.
    `import * as exported from ${JSON.stringify(BUNDLE_ENTRY)};`,
    names.length === 0 ? "" : `export { ${quoted} } from ${from};`,
    hasOthers ? `export * from ${from};` : "",
    "declareExports(exported);",
  ].join("\n");
}
