import { createHash } from "node:crypto";
import { readEntry } from "./source-files.ts";

/** What a file looked like when it was loaded, with everything that it imports. */
const loaded = new Map<string, string>();

/** The generation in which a file was last loaded anew; a file without one has its plain URL. */
const generations = new Map<string, number>();

/** The query that tells a file that was loaded anew from what it was before. */
const QUERY = "fermata";

/**
 * Marks the files that must be loaded anew in this generation: those that changed since they were
 * loaded, and those that import one. Everything else stays the same module, with its state.
 */
export function markChanged(
  files: Readonly<{
    inputs: readonly string[];
    imports?: ReadonlyMap<string, readonly string[]>;
  }>,
  generation: number,
): void {
  const hashes = new Map<string, string>();
  for (const path of files.inputs) {
    const looks = files.imports === undefined ? "" : looksOf(path, files.imports, hashes);
    const isChanged = looks === "" || loaded.get(path) !== looks;
    if (generation > 0 && isChanged) generations.set(path, generation);
    if (generation > 0 || !loaded.has(path)) loaded.set(path, looks);
  }
}

/** A file that failed is loaded anew with the next generation, even if it does not change. */
export function forgetLoaded(paths: readonly string[]): void {
  for (const path of paths) loaded.delete(path);
}

/** The URL of the newest version of a file. */
export function newest(url: string, path: string): string {
  const generation = generations.get(path);
  return generation === undefined || url.includes("?") ? url : `${url}?${QUERY}=${generation}`;
}

function looksOf(
  path: string,
  imports: ReadonlyMap<string, readonly string[]>,
  hashes: Map<string, string>,
): string {
  const reached = new Set([path]);
  // A set is iterated with what is added on the way, so this follows the imports to their end.
  for (const one of reached) for (const next of imports.get(one) ?? []) reached.add(next);
  return [...reached]
    .toSorted()
    .map((one) => hashes.get(one) ?? remember(one, hashes))
    .join(" ");
}

function remember(path: string, hashes: Map<string, string>): string {
  const text = readEntry(path) ?? "";
  const hash = createHash("sha256").update(`${path}\n${text}`).digest("base64url");
  hashes.set(path, hash);
  return hash;
}
