import { buildSync } from "esbuild";
import { type AuthorFile, isModule, parseAuthorFile } from "./author-file.ts";
import { isErasable } from "./erasable.ts";
import { readText } from "./source-files.ts";

/** What Node is to run in place of a file's own text. */
type HostSource = Readonly<{ format: "module" | "commonjs" | "module-typescript"; source: string }>;

/** The texts that esbuild made, by their URLs: stack traces have positions in these. */
const transformed = new Map<string, string>();

/** The text that runs at a URL, where it is not the file's own. */
export function transformedText(url: string): string | undefined {
  return transformed.get(url);
}

/**
 * The text of a file in TypeScript that Node cannot run as it is, whatever TypeScript it is;
 * undefined where Node can. `format` is what Node takes it for.
 */
export function hostSource(
  path: string,
  { url, format }: Readonly<{ url: string; format: string }>,
): HostSource | undefined {
  const text = readText(path);
  const file = parseAuthorFile(path, text);
  if (file !== undefined && isErasable(file) && /\.[cm]?ts$/.test(path)) {
    // A package of type "commonjs" may still be written with `import`.
    const isMistaken = format.startsWith("commonjs") && path.endsWith(".ts") && isModule(file);
    return isMistaken ? { format: "module-typescript", source: text } : undefined;
  }
  const source = transform(path);
  transformed.set(url, source);
  return { format: formatOf(path, file), source };
}

function formatOf(path: string, file: AuthorFile | undefined): "module" | "commonjs" {
  if (path.endsWith(".mts")) return "module";
  if (path.endsWith(".cts")) return "commonjs";
  return file === undefined || isModule(file) ? "module" : "commonjs";
}

/** A build of one file, and not a transform, since that heeds the settings in its tsconfig.json. */
function transform(path: string): string {
  const { outputFiles } = buildSync({
    entryPoints: [path],
    write: false,
    bundle: false,
    ...(path.endsWith(".cts") && { format: "cjs" as const }),
    platform: "node",
    target: "node24",
    charset: "utf8",
    sourcemap: "inline",
    logLevel: "silent",
  });
  return outputFiles[0]?.text ?? "";
}
