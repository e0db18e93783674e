import type { Problem } from "./report.ts";
import type { Names, Reference } from "./syntax/names.ts";
import { isOf, type Node } from "./syntax/tree.ts";

/** A use of `step` that the bundler did not understand, so that the function of the step is left. */
export function keptStep({ node, name }: Reference, names: Names): Problem | undefined {
  // esbuild appends a number where two files use one name.
  if (!/^step\d*$/.test(name)) return undefined;
  const call = names.parentOf(node);
  const isCall = isOf(call, "CallExpression") && call.callee === node;
  return isCall && call.arguments.slice(0, 2).every(isRemoved) ? undefined : STEP_NOT_REMOVED;
}

/** The first argument is the type; of the second, only a literal without a meaning may be left. */
function isRemoved(argument: Node, at: number): boolean {
  if (at === 0) return argument.type !== "SpreadElement";
  if (isOf(argument, "UnaryExpression")) return argument.operator === "void";
  return argument.type === "NumericLiteral";
}

const STEP_NOT_REMOVED: Problem = {
  severity: "error",
  code: "code/step-not-removed",
  message: "The function of a step cannot be removed from the workflow here.",
  hint: "Call `step` directly, and write its function in the call or at the top of the file.",
};
