import type { Names, Reference } from "./syntax/names.ts";
import { contains, isOf, type Node } from "./syntax/tree.ts";

/** Whether a name is only asked for with `typeof`, or used where such a question was asked before. */
export function isGuarded({ node, name }: Reference, names: Names): boolean {
  let child: Node = node;
  for (let at = names.parentOf(node); at !== undefined; at = names.parentOf(at)) {
    if (at.type === "UnaryExpression" && at.operator === "typeof" && child === node) return true;
    const question = questionBefore(at, child);
    if (question !== undefined && contains(question, (one) => asksFor(one, name))) return true;
    child = at;
  }
  return false;
}

/** The condition under which a child of a node is evaluated. */
function questionBefore(node: Node, child: Node): Node | undefined {
  if (isOf(node, "IfStatement", "ConditionalExpression")) {
    return child === node.test ? undefined : node.test;
  }
  return isOf(node, "LogicalExpression") && child === node.right ? node.left : undefined;
}

function asksFor(node: Node, name: string): boolean {
  return (
    node.type === "UnaryExpression" &&
    node.operator === "typeof" &&
    node.argument.type === "Identifier" &&
    node.argument.name === name
  );
}
