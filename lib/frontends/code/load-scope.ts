import type { Names } from "./syntax/names.ts";
import { type FunctionNode, isFunction, isOf, type Node } from "./syntax/tree.ts";

/**
 * Whether a node runs when the bundle is loaded: outside of functions, in one that is called where
 * it is written, or in the wrapper that the bundler puts around a module.
 */
export function runsAtLoad(node: Node, names: Names): boolean {
  let child = node;
  for (let at = names.parentOf(node); at !== undefined; at = names.parentOf(at)) {
    if (isFunction(at) && isBodyOrParameter(at, child) && !isCalledAtOnce(at, names)) return false;
    if (isFieldOfInstances(at) && at.value === child) return false;
    child = at;
  }
  return true;
}

/** A computed key is evaluated outside of its method. */
function isBodyOrParameter(at: FunctionNode, child: Node): boolean {
  return !("key" in at) || at.key !== child;
}

function isCalledAtOnce(node: FunctionNode, names: Names): boolean {
  const parent = names.parentOf(node);
  if (isOf(parent, "CallExpression", "OptionalCallExpression", "NewExpression")) {
    return parent.callee === node;
  }
  if (isOf(parent, "MemberExpression")) {
    return parent.object === node && isCallOrApply(parent, names);
  }
  if (isOf(parent, "ObjectProperty")) return isModuleWrapper(parent, names);
  return node.type === "ObjectMethod" && isModuleWrapper(node, names);
}

function isCallOrApply(member: Node & { type: "MemberExpression" }, names: Names): boolean {
  const { property } = member;
  const parent = names.parentOf(member);
  const isThat = property.type === "Identifier" && /^(?:call|apply)$/.test(property.name);
  return isThat && parent?.type === "CallExpression" && parent.callee === member;
}

/** esbuild writes modules that it cannot flatten as `__commonJS({ "path"(exports) { … } })`. */
function isModuleWrapper(property: Node, names: Names): boolean {
  const object = names.parentOf(property);
  const call = object === undefined ? undefined : names.parentOf(object);
  if (call?.type !== "CallExpression" || call.callee.type !== "Identifier") return false;
  return /^__(?:commonJS|esm)/.test(call.callee.name);
}

type Field = Node & { type: "ClassProperty" | "ClassPrivateProperty" | "ClassAccessorProperty" };

function isFieldOfInstances(node: Node): node is Field {
  const isField = isOf(node, "ClassProperty", "ClassPrivateProperty", "ClassAccessorProperty");
  return isField && node.static !== true;
}
