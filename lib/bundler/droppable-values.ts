import {
  contains,
  isFunction,
  isOf,
  type Node,
  spanOf,
  withoutTypes,
} from "../frontends/code/syntax/tree.ts";
import { type AuthorFile, isModule, sdkNameOf } from "./author-file.ts";
import type { Edit } from "./edits.ts";
import { unitsOf } from "./top-level.ts";

/**
 * Lets esbuild drop the variables at the top of a file that no workflow uses, such as a client that
 * another file's steps use: their values are computed by a function that is marked as pure.
 */
export function droppableValues(file: AuthorFile): readonly Edit[] {
  if (!isModule(file)) return [];
  return unitsOf(file).flatMap(({ node }) => {
    const value = initialValue(node);
    if (value === undefined || !isDroppable(value, file)) return [];
    const { start, end } = spanOf(value);
    return [
      { kind: "insert", at: start, text: "/* @__PURE__ */ (() => (" },
      { kind: "insert", at: end, text: "))()" },
    ];
  });
}

function initialValue(node: Node): Node | undefined {
  if (node.type !== "VariableDeclarator" || node.id.type !== "Identifier") return undefined;
  return node.init ?? undefined;
}

/** What the SDK makes is kept: it says what the file declares. */
function isDroppable(value: Node, file: AuthorFile): boolean {
  const bare = withoutTypes(value);
  if (bare.type === "CallExpression" && sdkNameOf(bare.callee, file) !== undefined) return false;
  if (isFunction(bare) || contains(bare, cannotMove, isNoFunction)) return false;
  return contains(bare, mayAct, isNoFunction);
}

const isNoFunction = (node: Node) => !isFunction(node);

function cannotMove(node: Node): boolean {
  if (node.type === "Identifier") return node.name === "require" || node.name === "arguments";
  return node.type === "AwaitExpression";
}

/** What esbuild would keep, since it might have an effect. */
function mayAct(node: Node): boolean {
  return (
    isOf(node, "CallExpression", "OptionalCallExpression", "NewExpression") ||
    isOf(node, "TaggedTemplateExpression", "MemberExpression", "OptionalMemberExpression")
  );
}
