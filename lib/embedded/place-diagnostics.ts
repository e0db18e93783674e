import { dirname } from "node:path";
import { fileNamer } from "../bundler/diagnostics.ts";

/**
 * A finding in a bundle, which names files from the folder of the file that was bundled, as the
 * bundler names them. What is wrong with the bundle as a whole is wrong with that file.
 */
export function placedBy<T extends Readonly<{ file?: string }>>(
  path: string,
  found: T,
): T & Readonly<{ file: string }> {
  return { ...found, file: fileNamer(dirname(path))(found.file ?? path) };
}
