import type { Identifier, Program } from "@babel/types";
import { childrenOf, isFunction, isOf, type Node } from "./tree.ts";

/** One name that a program declares. */
export type Binding = Readonly<{
  name: string;
  /** The declarator, function, class, import specifier or parameter. */
  declaredBy: Node;
  /** Where its name stands in the declaration. */
  identifier: Identifier;
}>;

/** The names that are declared in one block, function or module. */
export type Scope = Readonly<{
  parent: Scope | undefined;
  /** Whether `var` declares here. */
  isFunction: boolean;
  bindings: Map<string, Binding>;
}>;

/** The scopes of a program, by the node that opens them. */
export type Scopes = Readonly<{
  root: Scope;
  at: ReadonlyMap<Node, Scope>;
  /** The identifiers that declare, and so refer to nothing. */
  declaring: ReadonlySet<Node>;
}>;

/** Finds what every block, function and module declares; types declare nothing. */
export function findScopes(program: Program): Scopes {
  const at = new Map<Node, Scope>();
  const declaring = new Set<Node>();
  const root = openScope(undefined, true);

  function declare(scope: Scope, pattern: Node | null | undefined, declaredBy: Node): void {
    for (const identifier of namesIn(pattern)) {
      declaring.add(identifier);
      if (scope.bindings.has(identifier.name)) continue;
      scope.bindings.set(identifier.name, { name: identifier.name, declaredBy, identifier });
    }
  }

  function visit(node: Node, outer: Scope): void {
    if (isTypeOnly(node)) return;
    declareOutside(node, outer, declare);
    const scope = opensScope(node) ? openScope(outer, opensFunctionScope(node)) : outer;
    if (scope !== outer) at.set(node, scope);
    declareInside(node, scope, declare);
    for (const child of childrenOf(node)) visit(child, scope);
  }

  for (const statement of program.body) visit(statement, root);
  return { root, at, declaring };
}

/** Whether a node is about types alone, and leaves nothing in the program that runs. */
export function isTypeOnly(node: Node): boolean {
  if ("importKind" in node && (node.importKind === "type" || node.importKind === "typeof")) {
    return true;
  }
  if ("exportKind" in node && node.exportKind === "type") return true;
  if ("declare" in node && node.declare === true) return true;
  return node.type.startsWith("TS") && !RUNNING_TYPESCRIPT.has(node.type);
}

/** Syntax of TypeScript that has values in it. */
const RUNNING_TYPESCRIPT = new Set([
  "TSAsExpression",
  "TSSatisfiesExpression",
  "TSNonNullExpression",
  "TSTypeAssertion",
  "TSInstantiationExpression",
  "TSEnumDeclaration",
  "TSEnumBody",
  "TSEnumMember",
  "TSModuleDeclaration",
  "TSModuleBlock",
  "TSExportAssignment",
  "TSImportEqualsDeclaration",
  "TSExternalModuleReference",
  "TSQualifiedName",
  "TSParameterProperty",
]);

type Declare = (scope: Scope, pattern: Node | null | undefined, declaredBy: Node) => void;

/** What a node declares in the scope that it stands in. */
function declareOutside(node: Node, scope: Scope, declare: Declare): void {
  if (node.type === "VariableDeclaration") {
    const into = node.kind === "var" ? functionScopeOf(scope) : scope;
    for (const one of node.declarations) declare(into, one.id, one);
  } else if (isOf(node, "FunctionDeclaration", "ClassDeclaration", "TSEnumDeclaration")) {
    declare(scope, node.id, node);
  } else if (isOf(node, "TSModuleDeclaration", "TSImportEqualsDeclaration")) {
    declare(scope, node.id, node);
  } else if (isOf(node, "ImportSpecifier", "ImportDefaultSpecifier", "ImportNamespaceSpecifier")) {
    declare(scope, node.local, node);
  }
}

/** What a node declares in the scope that it opens. */
function declareInside(node: Node, scope: Scope, declare: Declare): void {
  if (isFunction(node)) {
    if (node.type === "FunctionExpression") declare(scope, node.id, node);
    for (const parameter of node.params) declare(scope, parameter, parameter);
  }
  if (node.type === "ClassExpression") declare(scope, node.id, node);
  if (node.type === "CatchClause") declare(scope, node.param, node);
}

function opensScope(node: Node): boolean {
  return (
    opensFunctionScope(node) ||
    isOf(node, "BlockStatement", "ForStatement", "ForInStatement", "ForOfStatement") ||
    isOf(node, "SwitchStatement", "CatchClause", "ClassExpression")
  );
}

function opensFunctionScope(node: Node): boolean {
  return isFunction(node) || node.type === "StaticBlock" || node.type === "TSModuleBlock";
}

function openScope(parent: Scope | undefined, isFunctionScope: boolean): Scope {
  return { parent, isFunction: isFunctionScope, bindings: new Map() };
}

function functionScopeOf(scope: Scope): Scope {
  let at = scope;
  while (!at.isFunction && at.parent !== undefined) at = at.parent;
  return at;
}

/** The identifiers that a pattern declares, in the order of the text. */
function namesIn(pattern: Node | null | undefined): readonly Identifier[] {
  if (isOf(pattern, "Identifier")) return [pattern];
  if (isOf(pattern, "ObjectPattern")) return pattern.properties.flatMap(namesIn);
  if (isOf(pattern, "ObjectProperty")) return namesIn(pattern.value);
  if (isOf(pattern, "ArrayPattern")) return pattern.elements.flatMap(namesIn);
  if (isOf(pattern, "AssignmentPattern")) return namesIn(pattern.left);
  if (isOf(pattern, "RestElement")) return namesIn(pattern.argument);
  return isOf(pattern, "TSParameterProperty") ? namesIn(pattern.parameter) : [];
}
