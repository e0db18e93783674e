import { isBuiltin } from "node:module";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import type { OnResolveArgs, Plugin, PluginBuild } from "esbuild";
import { parseAuthorFile, SDK } from "./author-file.ts";
import { SDK_PATH, SDK_URL } from "./engine-files.ts";
import { META_PREFIX, metaModule, withOwnMeta } from "./import-meta.ts";
import { isPackaged, loaderOf, readText } from "./source-files.ts";

const META_NAMESPACE = "fermata-import-meta";

/**
 * Bundles an author's own files for the host. Packages stay outside and are imported by their URLs,
 * since the text has no folder of its own to find them from.
 */
export function hostPlugin(inputs: Set<string>): Plugin {
  return {
    name: "fermata-host",
    setup(build) {
      build.onResolve({ filter: /.*/ }, (args) => resolveImport(build, args));
      build.onLoad({ filter: /.*/, namespace: META_NAMESPACE }, ({ path }) => ({
        contents: metaModule(path),
        resolveDir: dirname(path),
      }));
      build.onLoad({ filter: /.*/, namespace: "file" }, ({ path }) => {
        inputs.add(path);
        return loadFile(path);
      });
    },
  };
}

/** Marks what was resolved here already, so that esbuild's own resolution is asked once. */
const RESOLVED = "fermata-resolved";

async function resolveImport(build: PluginBuild, args: OnResolveArgs) {
  const { path, kind, importer, namespace, resolveDir, pluginData } = args;
  if (pluginData === RESOLVED) return undefined;
  const isRequire = kind === "require-call" || kind === "require-resolve";
  if (path === SDK) return { path: isRequire ? SDK_PATH : SDK_URL, external: true };
  if (path.startsWith(META_PREFIX)) {
    return { path: path.slice(META_PREFIX.length), namespace: META_NAMESPACE };
  }
  if (isBuiltin(path)) return { path: withScheme(path), external: true };
  const asked = { kind, importer, namespace, resolveDir, pluginData: RESOLVED, with: args.with };
  const found = await build.resolve(path, asked);
  if (found.errors.length > 0) return { errors: found.errors, warnings: found.warnings };
  if (found.external || !isPackaged(found.path)) return found;
  return { path: isRequire ? found.path : pathToFileURL(found.path).href, external: true };
}

function withScheme(path: string): string {
  return path.startsWith("node:") ? path : `node:${path}`;
}

/** Most files have no `import.meta`, and are left to esbuild. */
function loadFile(path: string) {
  const loader = loaderOf(path);
  if (loader === undefined) return undefined;
  const text = readText(path);
  const file =
    text.includes("import") && text.includes("meta") ? parseAuthorFile(path, text) : undefined;
  if (file === undefined) return undefined;
  return { contents: withOwnMeta(path, file), loader, resolveDir: dirname(path) };
}
