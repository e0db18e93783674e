import { relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The folder of the engine's own code, as TypeScript in the repository and as JavaScript in the package. */
const LIB = fileURLToPath(new URL("..", import.meta.url));
const EXTENSION = import.meta.url.endsWith(".ts") ? "ts" : "js";

/** The SDK that belongs to this engine, wherever the author's file lies. */
export const SDK_PATH = resolve(LIB, "workflow", `index.${EXTENSION}`);

/** The same as a URL, for files that run on the host. */
export const SDK_URL = pathToFileURL(SDK_PATH).href;

/**
 * In a bundle the engine's files are named by this namespace and their path in the package, so that
 * the text does not depend on where the engine is installed.
 */
export const ENGINE_NAMESPACE = "fermata-engine";

/** The name of an engine's file within the namespace. */
export function engineName(path: string): string {
  return `${relative(resolve(LIB, ".."), path).replaceAll("\\", "/")}`;
}

/** The path of an engine's file by its name. */
export function enginePath(name: string): string {
  return resolve(LIB, "..", name);
}
