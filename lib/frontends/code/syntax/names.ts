import type { Identifier, JSXIdentifier, Program } from "@babel/types";
import { type Binding, findScopes, isTypeOnly, type Scope } from "./scopes.ts";
import { childrenOf, isOf, type Node } from "./tree.ts";

/** A name that is read, written or called, and what it refers to; nothing in the program if free. */
export type Reference = Readonly<{
  node: Identifier | JSXIdentifier;
  name: string;
  binding: Binding | undefined;
}>;

/** What the names of a program refer to. */
export type Names = Readonly<{
  /** Every reference, in the order of the tree. */
  references: readonly Reference[];
  /** What is declared outside of all functions and blocks. */
  top: ReadonlyMap<string, Binding>;
  bindingOf(node: Node): Binding | undefined;
  parentOf(node: Node): Node | undefined;
}>;

/** Resolves every name of a program; one that only types mention is no reference. */
export function resolveNames(program: Program): Names {
  const scopes = findScopes(program);
  const parents = new Map<Node, Node>();
  const references = new Map<Node, Reference>();

  function visit(node: Node, outer: Scope): void {
    if (isTypeOnly(node)) return;
    const scope = scopes.at.get(node) ?? outer;
    if (isName(node) && !scopes.declaring.has(node) && refers(node, parents)) {
      const binding = lookUp(scope, node.name);
      references.set(node, { node, name: node.name, binding });
    }
    for (const child of childrenOf(node)) {
      parents.set(child, node);
      visit(child, scope);
    }
  }

  parents.set(program, program);
  for (const statement of program.body) {
    parents.set(statement, program);
    visit(statement, scopes.root);
  }
  return {
    references: [...references.values()],
    top: scopes.root.bindings,
    bindingOf: (node) => references.get(node)?.binding,
    parentOf: (node) => (node === program ? undefined : parents.get(node)),
  };
}

function isName(node: Node): node is Identifier | JSXIdentifier {
  return node.type === "Identifier" || node.type === "JSXIdentifier";
}

function lookUp(scope: Scope, name: string): Binding | undefined {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) {
    const binding = at.bindings.get(name);
    if (binding !== undefined) return binding;
  }
  return undefined;
}

/** Whether a name stands where a value is meant, and not a key, a label or a name for others. */
function refers(node: Identifier | JSXIdentifier, parents: ReadonlyMap<Node, Node>): boolean {
  const parent = parents.get(node);
  if (isOf(parent, "MemberExpression", "OptionalMemberExpression")) {
    return parent.object === node || parent.computed;
  }
  if (
    isOf(parent, "ObjectProperty", "ObjectMethod", "ClassMethod") ||
    isOf(parent, "ClassProperty", "ClassAccessorProperty")
  ) {
    return parent.key !== node || parent.computed === true;
  }
  if (isOf(parent, "ExportSpecifier")) {
    return parent.local === node && !isReExport(parents.get(parent));
  }
  if (isOf(parent, "TSEnumMember")) return parent.initializer === node;
  if (isOf(parent, "TSQualifiedName")) return parent.left === node;
  if (isOf(parent, "JSXMemberExpression")) return parent.object === node;
  if (isOf(parent, "JSXOpeningElement")) return /^[^a-z]/.test(node.name);
  return !NAMES_ONLY.has(parent?.type ?? "");
}

function isReExport(node: Node | undefined): boolean {
  return node?.type === "ExportNamedDeclaration" && node.source != null;
}

/** Where a name refers to nothing. */
const NAMES_ONLY = new Set([
  "LabeledStatement",
  "BreakStatement",
  "ContinueStatement",
  "MetaProperty",
  "ImportSpecifier",
  "ImportDefaultSpecifier",
  "ImportNamespaceSpecifier",
  "ImportAttribute",
  "ExportNamespaceSpecifier",
  "ExportDefaultSpecifier",
  "JSXClosingElement",
  "JSXAttribute",
  "JSXNamespacedName",
]);
