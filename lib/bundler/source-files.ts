import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Loader } from "esbuild";

/** The path of a file that is given by its path or its URL. */
export function pathOf(entry: string | URL): string {
  const isUrl = entry instanceof URL || entry.startsWith("file:");
  return isUrl ? fileURLToPath(entry) : resolve(entry);
}

/** The text of an entry file; undefined where there is none. */
export function readEntry(path: string): string | undefined {
  try {
    return readText(path);
  } catch {
    return undefined;
  }
}

/** Without the mark at its start that some editors write, which esbuild ignores too. */
export function readText(path: string): string {
  return readFileSync(path, "utf8").replace(/^\uFEFF/, "");
}

/** How esbuild reads a file of code; undefined for any other file. */
export function loaderOf(path: string): Loader | undefined {
  if (path.endsWith(".tsx")) return "tsx";
  if (path.endsWith(".jsx")) return "jsx";
  if (/\.[cm]?ts$/.test(path)) return "ts";
  return /\.[cm]?js$/.test(path) ? "js" : undefined;
}

/** Whether a file belongs to an installed package. */
export function isPackaged(path: string): boolean {
  return /[\\/]node_modules[\\/]/.test(path);
}
