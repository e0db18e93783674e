import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { childrenOf, type Node, spanOf } from "../frontends/code/syntax/tree.ts";
import type { AuthorFile } from "./author-file.ts";

/** The module that gives a file its own `import.meta`, by the file's path. */
export const META_PREFIX = "fermata-import-meta:";

/**
 * Replaces `import.meta`, which in a bundle would be the bundle's, by an import of the file's own.
 * Every other character keeps its place.
 */
export function withOwnMeta(path: string, { text, program }: AuthorFile): string {
  const places = metaProperties(program).map(spanOf);
  if (places.length === 0) return text;
  const alias = freshName(text);
  let result = text;
  for (const { start, end } of places) {
    const original = text.slice(start, end);
    const lines = original.replace(/[^\n\r]/g, "");
    const padded = (alias + lines).padEnd(original.length);
    result = result.slice(0, start) + padded + result.slice(end);
  }
  return `${result}\nimport ${alias} from ${JSON.stringify(META_PREFIX + path)};`;
}

/** The text of the module behind such an import. */
export function metaModule(path: string): string {
  const url = pathToFileURL(path).href;
  const fixed = JSON.stringify({ url, dirname: dirname(path), filename: path, main: false });
  return [
    'import { createRequire, isBuiltin } from "node:module";',
    'import { pathToFileURL } from "node:url";',
    `const meta = ${fixed};`,
    "const find = (name) => pathToFileURL(createRequire(meta.url).resolve(name)).href;",
    "const isPath = (name) => /^(?:[./]|[a-z]+:)/.test(name);",
    "meta.resolve = (name) =>",
    "  isBuiltin(name) ? name : isPath(name) ? new URL(name, meta.url).href : find(name);",
    "export default meta;",
  ].join("\n");
}

function metaProperties(node: Node): readonly Node[] {
  if (node.type === "MetaProperty") return node.meta.name === "import" ? [node] : [];
  return childrenOf(node).flatMap(metaProperties);
}

/** As long as `import.meta`, so that the line keeps its columns. */
function freshName(text: string): string {
  for (let number = 0; ; number++) {
    const name = `__meta${String(number).padStart("import.meta".length - "__meta".length, "_")}`;
    if (!text.includes(name)) return name;
  }
}
