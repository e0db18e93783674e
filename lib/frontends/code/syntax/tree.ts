import type { Function as FunctionNode, Node } from "@babel/types";

export type { FunctionNode, Node };

/** A place in a text: the offsets of its first character and of the one after its last. */
export type Span = Readonly<{ start: number; end: number }>;

/** The offsets of a node that the parser made. */
export function spanOf(node: Node): Span {
  return { start: node.start ?? 0, end: node.end ?? 0 };
}

/** Whether a place lies within another. */
export function isWithin(inner: Span, outer: Span): boolean {
  return outer.start <= inner.start && inner.end <= outer.end;
}

/** Fields that are no part of the program. */
const APART = new Set(["loc", "extra", "errors", "tokens", "comments"]);

/** The nodes directly below a node, in the order of its fields. */
export function childrenOf(node: Node): readonly Node[] {
  const children: Node[] = [];
  for (const [field, value] of Object.entries(node)) {
    if (typeof value !== "object" || value === null || APART.has(field)) continue;
    for (const one of Array.isArray(value) ? value : [value]) if (isNode(one)) children.push(one);
  }
  return children;
}

/** Whether a node is of one of these types. */
export function isOf<T extends Node["type"]>(
  node: Node | null | undefined,
  ...types: readonly T[]
): node is Extract<Node, { type: T }> {
  return node != null && types.some((type) => type === node.type);
}

/** Whether a node has a body of its own, which runs when it is called. */
export function isFunction(node: Node): node is FunctionNode {
  return (
    isOf(node, "FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression") ||
    isOf(node, "ObjectMethod", "ClassMethod", "ClassPrivateMethod")
  );
}

/** Whether a node, or one below it, is such; `enters` says below which nodes to look. */
export function contains(
  node: Node,
  isSuch: (node: Node) => boolean,
  enters: (node: Node) => boolean = () => true,
): boolean {
  if (isSuch(node)) return true;
  return childrenOf(node).some((child) => enters(child) && contains(child, isSuch, enters));
}

/** An expression without the types that TypeScript lets an author write around it. */
export function withoutTypes(node: Node): Node {
  const isTyped =
    isOf(node, "TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression") ||
    isOf(node, "TSTypeAssertion", "TSInstantiationExpression");
  return isTyped ? withoutTypes(node.expression) : node;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}
