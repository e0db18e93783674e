import { isTypeOnly } from "../frontends/code/syntax/scopes.ts";
import { contains, isOf, type Node } from "../frontends/code/syntax/tree.ts";
import type { AuthorFile } from "./author-file.ts";

/**
 * Whether Node can run a file in TypeScript by blanking its types. It then keeps every line and
 * column; other files are transformed by esbuild.
 */
export function isErasable(file: AuthorFile): boolean {
  const isKept = (node: Node) => !isTypeOnly(node);
  return !contains(file.program, mustBeTransformed, isKept) && !importsForTypesAlone(file);
}

/** Syntax of TypeScript that has a meaning at run time, or that V8 does not know. */
function mustBeTransformed(node: Node): boolean {
  if ("decorators" in node && (node.decorators?.length ?? 0) > 0) return true;
  return (
    isOf(node, "TSEnumDeclaration", "TSModuleDeclaration", "TSParameterProperty") ||
    isOf(node, "TSImportEqualsDeclaration", "TSExportAssignment", "ClassAccessorProperty") ||
    isOf(node, "JSXElement", "JSXFragment")
  );
}

/** TypeScript drops imports that only types use; Node would look for them in the other file. */
function importsForTypesAlone({ program, names }: AuthorFile): boolean {
  const used = new Set(names.references.map(({ binding }) => binding));
  return program.body
    .filter((statement) => isOf(statement, "ImportDeclaration") && !isTypeOnly(statement))
    .flatMap((statement) => (isOf(statement, "ImportDeclaration") ? statement.specifiers : []))
    .filter((specifier) => !isTypeOnly(specifier))
    .some(({ local }) => !used.has(names.top.get(local.name)));
}
