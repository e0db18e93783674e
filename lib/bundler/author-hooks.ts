/**
 * How Node imports the files of authors. They are the same modules that the rest of the program
 * imports, with their state: only what Node refuses to resolve or to read is changed here.
 */
import { existsSync, statSync } from "node:fs";
import {
  type LoadHookContext,
  type LoadHookSync,
  type ResolveFnOutput,
  type ResolveHookContext,
  type ResolveHookSync,
  registerHooks,
} from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { SDK } from "./author-file.ts";
import { SDK_URL } from "./engine-files.ts";
import { hostSource } from "./host-source.ts";
import { newest } from "./reloads.ts";
import { isPackaged } from "./source-files.ts";

let isRegistered = false;

/** Lets the whole program import authors' files; done once, before the first of them is loaded. */
export function registerAuthorHooks(): void {
  if (isRegistered) return;
  registerHooks({ resolve, load });
  isRegistered = true;
}

const resolve: ResolveHookSync = (specifier, context, next) => {
  if (specifier === SDK) return { url: SDK_URL, shortCircuit: true };
  const found = resolveFile(specifier, context, next);
  const path = authorPath(found.url);
  if (path === undefined) return found;
  return { ...found, url: newest(found.url, path), ...jsonAttributes(path, context) };
};

const load: LoadHookSync = (url, context, next) => {
  const path = authorPath(url);
  if (path === undefined || !/\.(?:[cm]?ts|[jt]sx)$/.test(path)) return next(url, context);
  const source = hostSource(path, { url, format: formatOf(context) });
  return source === undefined ? next(url, context) : { ...source, shortCircuit: true };
};

/** The package's own type, as far as Node has looked it up. */
const formatOf = ({ format }: LoadHookContext): string => format ?? "";

/** The path of a file that is not part of an installed package. */
function authorPath(url: string | undefined): string | undefined {
  if (url === undefined || !url.startsWith("file:")) return undefined;
  const path = fileURLToPath(url);
  return isPackaged(path) ? undefined : path;
}

/** As the bundler does, takes JSON without the attribute that Node asks for. */
function jsonAttributes(
  path: string,
  { importAttributes, parentURL }: ResolveHookContext,
): Pick<ResolveFnOutput, "importAttributes"> {
  if (!path.endsWith(".json") || authorPath(parentURL) === undefined) return {};
  return { importAttributes: { ...importAttributes, type: "json" } };
}

type NextResolve = Parameters<ResolveHookSync>[2];

/** As Node does; a relative import that leads nowhere may name a file in TypeScript as tsc lets it. */
function resolveFile(
  specifier: string,
  context: ResolveHookContext,
  next: NextResolve,
): ResolveFnOutput {
  try {
    return next(specifier, context);
  } catch (error) {
    const { parentURL } = context;
    const isRelative = /^\.\.?(?:\/|$)/.test(specifier);
    if (!isRelative || parentURL === undefined || authorPath(parentURL) === undefined) throw error;
    const found = typeScriptFile(fileURLToPath(new URL(specifier, parentURL)));
    if (found === undefined) throw error;
    return next(pathToFileURL(found).href, context);
  }
}

/** The file in TypeScript that is meant by the name of its output, or by a name without ending. */
function typeScriptFile(path: string): string | undefined {
  const asOutput = /\.([cm]?)js$/.test(path)
    ? [path.replace(/\.([cm]?)js$/, ".$1ts"), path.replace(/\.js$/, ".tsx")]
    : [];
  const endings = ["ts", "tsx", "mts", "js", "mjs", "json"];
  const without = endings.map((ending) => `${path}.${ending}`);
  const inFolder = endings.map((ending) => `${path}/index.${ending}`);
  return [...asOutput, ...without, ...inFolder].find((one) => existsSync(one) && isFile(one));
}

const isFile = (path: string): boolean => statSync(path).isFile();
