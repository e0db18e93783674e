import { isBuiltin } from "node:module";
import { dirname, resolve } from "node:path";
import type { OnResolveArgs, Plugin, PluginBuild } from "esbuild";
import { SDK } from "./author-file.ts";
import { ENGINE_NAMESPACE, engineName, enginePath, SDK_PATH } from "./engine-files.ts";
import { BUNDLE_ENTRY, ENTRY_NAMESPACE, entryModule } from "./entry-module.ts";
import type { MissingModules } from "./missing-modules.ts";
import { SdkModules } from "./sdk-modules.ts";
import { isPackaged, loaderOf, readText } from "./source-files.ts";
import { workflowPart } from "./workflow-part.ts";

type Context = Readonly<{
  entry: string;
  missing: MissingModules;
  /** Every file that was read. */
  inputs: Set<string>;
  /** The files that may have steps, and could not be split. */
  unsplit: Set<string>;
  /** Names that the SDK does not have and shall export, each as undefined. */
  added: readonly string[];
}>;

/** Lets into a bundle what belongs in the sandbox, of the author's files and of the engine's SDK. */
export function workflowPlugin(context: Context): Plugin {
  return {
    name: "fermata-workflows",
    setup(build) {
      const modules = new SdkModules((path, importer) => findImport(build, path, importer));
      build.onResolve({ filter: /.*/ }, (args) => resolveImport(build, args, context));
      build.onLoad({ filter: /.*/, namespace: ENTRY_NAMESPACE }, async () => ({
        contents: entryModule(context.entry, await modules.read(context.entry)),
        loader: "ts",
        resolveDir: dirname(context.entry),
      }));
      build.onLoad({ filter: /.*/, namespace: ENGINE_NAMESPACE }, ({ path }) => ({
        contents: readText(enginePath(path)) + addedTo(path, context.added),
        loader: loaderOf(path) ?? "default",
        resolveDir: dirname(enginePath(path)),
      }));
      build.onLoad({ filter: /.*/, namespace: "file" }, ({ path }) => {
        context.inputs.add(path);
        return loadFile(path, modules, context);
      });
    },
  };
}

/** The further exports of the SDK's own file. */
function addedTo(name: string, added: readonly string[]): string {
  if (added.length === 0 || enginePath(name) !== SDK_PATH) return "";
  const specifiers = added.map((one) => `__absent as ${JSON.stringify(one)}`);
  return `\nconst __absent = undefined;\nexport { ${specifiers.join(", ")} };`;
}

/** Marks what was resolved here already, so that esbuild's own resolution is asked once. */
const RESOLVED = "fermata-resolved";

async function resolveImport(build: PluginBuild, args: OnResolveArgs, context: Context) {
  const { path, importer, namespace, resolveDir, kind, pluginData } = args;
  if (pluginData === RESOLVED) return undefined;
  if (isBundleEntry(args)) return { path, namespace: ENTRY_NAMESPACE };
  if (path === SDK) return { path: engineName(SDK_PATH), namespace: ENGINE_NAMESPACE };
  // The engine's files name each other in full: asking esbuild for each would take longer than the rest.
  if (namespace === ENGINE_NAMESPACE) {
    return { path: engineName(resolve(resolveDir, path)), namespace: ENGINE_NAMESPACE };
  }
  // Under its own name a module of Node may be replaced by a package, such as `events`.
  const isNode = path.startsWith("node:");
  const found = isNode
    ? undefined
    : await build.resolve(path, {
        kind,
        importer,
        namespace,
        resolveDir,
        pluginData: RESOLVED,
        with: args.with,
      });
  if (found === undefined || found.errors.length > 0 || found.external) {
    const isOwn = namespace !== "file" || (!isNode && !isBuiltin(path) && isPackaged(importer));
    return isOwn ? undefined : context.missing.resolve({ module: path, importer });
  }
  const isAuthors = namespace === "file" && !isPackaged(importer);
  const sideEffects = isAuthors && found.path !== context.entry ? false : found.sideEffects;
  return { path: found.path, namespace: found.namespace, suffix: found.suffix, sideEffects };
}

/** The entry imports itself; a package may have its name. */
function isBundleEntry({ path, kind, namespace }: OnResolveArgs): boolean {
  return kind === "entry-point" || (namespace === ENTRY_NAMESPACE && path === BUNDLE_ENTRY);
}

/** The file that an import of an author's file leads to. */
async function findImport(build: PluginBuild, path: string, importer: string) {
  const { errors, external, ...found } = await build.resolve(path, {
    kind: "import-statement",
    importer,
    namespace: "file",
    resolveDir: dirname(importer),
    pluginData: RESOLVED,
  });
  return errors.length > 0 || external || found.namespace !== "file" ? undefined : found.path;
}

/** A file of an author is split; one of a package only if it declares steps. */
async function loadFile(path: string, modules: SdkModules, { entry, unsplit }: Context) {
  const loader = loaderOf(path);
  if (loader === undefined) return undefined;
  const text = readText(path);
  if (isPackaged(path) && !text.includes(SDK)) return undefined;
  const file = await modules.read(path);
  if (file === undefined && text.includes(SDK)) unsplit.add(path);
  if (file === undefined) return undefined;
  const contents = workflowPart(file, { isEntry: path === entry });
  return { contents, loader, resolveDir: dirname(path) };
}
