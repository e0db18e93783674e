import { isBuiltin } from "node:module";
import { dirname, resolve } from "node:path";
import { build, type OnResolveArgs, type Plugin, type PluginBuild } from "esbuild";
import type { Diagnostic } from "../definition/diagnostic.ts";
import { SDK } from "./author-file.ts";
import { failuresOf } from "./diagnostics.ts";
import { isPackaged, loaderOf } from "./source-files.ts";

/** The author's files that a file is made of, without packages. */
export type Followed = Readonly<{
  /** Every file that was read, by its path. */
  inputs: readonly string[];
  /** The files that each of them imports; absent where there are errors. */
  imports?: ReadonlyMap<string, readonly string[]>;
  /** Every error of syntax, and every import that leads nowhere. */
  errors: readonly Diagnostic[];
}>;

/**
 * Finds the author's files behind one, without running them. Node stops at the first problem of a
 * file that it loads; esbuild finds them all.
 */
export async function followImports(
  path: string,
  nameOf: (path: string) => string,
): Promise<Followed> {
  const folder = dirname(path);
  const inputs = new Set([path]);
  try {
    const { metafile } = await build({
      entryPoints: [path],
      absWorkingDir: folder,
      outdir: folder,
      write: false,
      metafile: true,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node24",
      logLevel: "silent",
      plugins: [followPlugin(inputs)],
    });
    const imports = Object.entries(metafile.inputs).map(
      ([file, found]) => [resolve(folder, file), pathsOf(found, folder)] as const,
    );
    return { inputs: [...inputs].toSorted(), imports: new Map(imports), errors: [] };
  } catch (error) {
    return { inputs: [...inputs].toSorted(), errors: failuresOf(error, nameOf) };
  }
}

function pathsOf(
  { imports }: Readonly<{ imports: readonly { path: string; external?: boolean }[] }>,
  folder: string,
): readonly string[] {
  return imports.flatMap(({ path, external }) => (external ? [] : [resolve(folder, path)]));
}

function followPlugin(inputs: Set<string>): Plugin {
  return {
    name: "fermata-follow-imports",
    setup(one) {
      one.onResolve({ filter: /.*/ }, (args) => resolveImport(one, args));
      one.onLoad({ filter: /.*/, namespace: "file" }, ({ path }) => {
        inputs.add(path);
        return undefined;
      });
    },
  };
}

/** Marks what was resolved here already, so that esbuild's own resolution is asked once. */
const RESOLVED = "fermata-resolved";

async function resolveImport(one: PluginBuild, args: OnResolveArgs) {
  const { path, kind, importer, namespace, resolveDir, pluginData } = args;
  if (pluginData === RESOLVED || kind === "entry-point") return undefined;
  if (path === SDK || isBuiltin(path)) return { path, external: true };
  const asked = { kind, importer, namespace, resolveDir, pluginData: RESOLVED, with: args.with };
  const found = await one.resolve(path, asked);
  if (found.errors.length > 0) return { errors: found.errors, warnings: found.warnings };
  return { ...found, external: found.external || isPackaged(found.path) || !isRead(found.path) };
}

const isRead = (path: string): boolean => loaderOf(path) !== undefined || path.endsWith(".json");
