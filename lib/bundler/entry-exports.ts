import type { ExportNamedDeclaration, ExportSpecifier } from "@babel/types";
import type { Binding } from "../frontends/code/syntax/scopes.ts";
import { isTypeOnly } from "../frontends/code/syntax/scopes.ts";
import {
  contains,
  isFunction,
  isWithin,
  type Node,
  spanOf,
  withoutTypes,
} from "../frontends/code/syntax/tree.ts";
import { type AuthorFile, moduleOf, nameIn, SDK } from "./author-file.ts";
import { blankedSpans, stepBodies } from "./sdk-calls.ts";

/** What a bundle exports of its entry file: by name, and everything where the file exports others whole. */
export type EntryExports = Readonly<{ names: readonly string[]; hasOthers: boolean }>;

/** The exports that may be workflows or steps. The others stay only where a workflow uses them. */
export function entryExports(file: AuthorFile): EntryExports {
  const names: string[] = [];
  let hasOthers = false;
  for (const statement of file.program.body) {
    if (statement.type === "ExportAllDeclaration" && !isTypeOnly(statement)) hasOthers = true;
    if (statement.type === "ExportDefaultDeclaration") names.push("default");
    if (statement.type !== "ExportNamedDeclaration" || isTypeOnly(statement)) continue;
    names.push(...namesOf(statement, file));
  }
  return { names, hasOthers };
}

function namesOf(statement: ExportNamedDeclaration, file: AuthorFile): readonly string[] {
  const { declaration, source } = statement;
  if (declaration?.type === "VariableDeclaration") {
    return [...file.names.top.values()]
      .filter(({ declaredBy }) => declaration.declarations.some((one) => one === declaredBy))
      .filter((binding) => mayBeHandle(binding, file))
      .map(({ name }) => name);
  }
  return statement.specifiers.flatMap((specifier) => {
    if (specifier.type === "ExportNamespaceSpecifier") return [specifier.exported.name];
    if (specifier.type !== "ExportSpecifier" || isTypeOnly(specifier)) return [];
    return source != null || isHandleInFile(specifier, file) ? [nameIn(specifier.exported)] : [];
  });
}

function isHandleInFile({ local }: ExportSpecifier, file: AuthorFile): boolean {
  const binding = file.names.bindingOf(local);
  return binding !== undefined && mayBeHandle(binding, file);
}

/** Functions, classes, literals and what `new` makes are no handles. */
function mayBeHandle(binding: Binding, file: AuthorFile): boolean {
  const { declaredBy } = binding;
  if (declaredBy.type !== "VariableDeclarator") return declaredBy.type.startsWith("Import");
  if (declaredBy.init == null) return true;
  const value = withoutTypes(declaredBy.init);
  if (isFunction(value) || /^(?:NewExpression|ClassExpression|.*Literal)$/.test(value.type)) {
    return false;
  }
  if (value.type === "CallExpression" && isFromPackage(value.callee, file)) {
    return !isOnlyForSteps(binding, file);
  }
  return contains(value, isUseOrCall, (child) => !isFunction(child));
}

/** Whether the bodies of steps use a variable, and nothing else in the file does. */
function isOnlyForSteps(binding: Binding, file: AuthorFile): boolean {
  const cut = blankedSpans(stepBodies(file));
  const uses = file.names.references.filter((reference) => reference.binding === binding);
  return (
    uses.length > 0 && uses.every(({ node }) => cut.some((span) => isWithin(spanOf(node), span)))
  );
}

function isUseOrCall(node: Node): boolean {
  return node.type === "CallExpression" || node.type === "Identifier";
}

/** Whether a call goes to a package other than the SDK. */
function isFromPackage(callee: Node, { names }: AuthorFile): boolean {
  const module = moduleOf(callee.type === "MemberExpression" ? callee.object : callee, names);
  return module !== undefined && module !== SDK && !/^[./#]|^file:/.test(module);
}
