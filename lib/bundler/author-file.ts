import type { Identifier, Program, StringLiteral } from "@babel/types";
import { type Names, resolveNames } from "../frontends/code/syntax/names.ts";
import { type ParsedCode, parseCode } from "../frontends/code/syntax/parse.ts";
import type { Node } from "../frontends/code/syntax/tree.ts";

/** The package entry that workflows are written with. */
export const SDK = "fermata-engine/workflow";

/** What a module has of the SDK under a name: a function of the SDK by its own name, or a whole module. */
export type SdkModule = (exported: string) => SdkExport | undefined;
export type SdkExport = string | SdkModule;

/** One file of an author, read and understood. */
export type AuthorFile = Readonly<{
  text: string;
  program: Program;
  names: Names;
  /** The SDK, and the modules that pass it on, as the file names them in its imports. */
  modules: ReadonlyMap<string, SdkModule>;
}>;

const THE_SDK: SdkModule = (exported) => exported;

/** The tree of a file and what its names refer to; undefined where esbuild is to report the problem. */
export function parseAuthorFile(path: string, text: string): AuthorFile | undefined {
  const parsed = parseSource(path, text);
  if (!parsed.ok) return undefined;
  try {
    const { program } = parsed.file;
    return { text, program, names: resolveNames(program), modules: new Map([[SDK, THE_SDK]]) };
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
export function sdkNameOf(node: Node, file: AuthorFile): string | undefined {
  const found = sdkExportOf(node, file);
  return typeof found === "string" ? found : undefined;
}

/** The same, also for a module as a whole. */
export function sdkExportOf(node: Node, file: AuthorFile): SdkExport | undefined {
  if (node.type === "MemberExpression") {
    const { object, property, computed } = node;
    const owner = computed ? undefined : sdkExportOf(object, file);
    if (typeof owner !== "function" || property.type !== "Identifier") return undefined;
    return owner(property.name);
  }
  const module = file.modules.get(moduleOf(node, file.names) ?? "");
  const imported = file.names.bindingOf(node)?.declaredBy;
  if (imported?.type === "ImportNamespaceSpecifier") return module;
  if (imported?.type === "ImportDefaultSpecifier") return module?.("default");
  return imported?.type === "ImportSpecifier" ? module?.(nameIn(imported.imported)) : undefined;
}

/** A name in an import or export, which may be quoted. */
export function nameIn(name: Identifier | StringLiteral): string {
  return name.type === "Identifier" ? name.name : name.value;
}

/** The module that a name is imported from. */
export function moduleOf(node: Node, names: Names): string | undefined {
  const specifier = names.bindingOf(node)?.declaredBy;
  const declaration = specifier === undefined ? undefined : names.parentOf(specifier);
  return declaration?.type === "ImportDeclaration" ? declaration.source.value : undefined;
}
