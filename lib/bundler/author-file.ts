import type { Program } from "@babel/types";
import { type Names, resolveNames } from "../frontends/code/syntax/names.ts";
import { type ParsedCode, parseCode } from "../frontends/code/syntax/parse.ts";
import type { Node } from "../frontends/code/syntax/tree.ts";

/** The package entry that workflows are written with. */
export const SDK = "fermata-engine/workflow";

/** One file of an author, read and understood. */
export type AuthorFile = Readonly<{ text: string; program: Program; names: Names }>;

/** The tree of a file and what its names refer to; undefined where esbuild is to report the problem. */
export function parseAuthorFile(path: string, text: string): AuthorFile | undefined {
  const parsed = parseSource(path, text);
  if (!parsed.ok) return undefined;
  try {
    const { program } = parsed.file;
    return { text, program, names: resolveNames(program) };
  } catch {
    // Nested so deeply that only esbuild can read it.
    return undefined;
  }
}

/** The tree of a file by the language that its name tells. */
export function parseSource(path: string, text: string): ParsedCode {
  const isTypeScript = /\.[cm]?tsx?$/.test(path);
  const hasJsx = /\.[jt]sx$/.test(path);
  const kind = isTypeScript || /\.mjs$/.test(path) ? "module" : "unambiguous";
  // Rules beyond syntax are esbuild's and TypeScript's to check.
  return parseCode(text, { kind, isTypeScript, hasJsx, isLenient: true });
}

/** Whether a file has imports or exports. */
export function isModule({ program }: AuthorFile): boolean {
  return program.body.some(({ type }) => /^(?:Import|Export)/.test(type));
}

/** The name under which the SDK exports what an expression refers to; undefined if it is not the SDK's. */
export function sdkNameOf(node: Node, { names }: AuthorFile): string | undefined {
  if (node.type === "MemberExpression") {
    const { object, property, computed } = node;
    const isNamespace = names.bindingOf(object)?.declaredBy.type === "ImportNamespaceSpecifier";
    if (!isNamespace || computed || property.type !== "Identifier") return undefined;
    return moduleOf(object, names) === SDK ? property.name : undefined;
  }
  const imported = names.bindingOf(node)?.declaredBy;
  if (imported?.type !== "ImportSpecifier" || moduleOf(node, names) !== SDK) return undefined;
  return imported.imported.type === "Identifier" ? imported.imported.name : imported.imported.value;
}

/** The module that a name is imported from. */
export function moduleOf(node: Node, names: Names): string | undefined {
  const specifier = names.bindingOf(node)?.declaredBy;
  const declaration = specifier === undefined ? undefined : names.parentOf(specifier);
  return declaration?.type === "ImportDeclaration" ? declaration.source.value : undefined;
}
