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

/** Whether a node has a body of its own, which runs when it is called. */
export function isFunction(node: Node): node is FunctionNode {
  switch (node.type) {
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
    case "ObjectMethod":
    case "ClassMethod":
    case "ClassPrivateMethod":
      return true;
    default:
      return false;
  }
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
  switch (node.type) {
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "TSNonNullExpression":
    case "TSTypeAssertion":
    case "TSInstantiationExpression":
      return withoutTypes(node.expression);
    default:
      return node;
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}
