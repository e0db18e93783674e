import type { CallExpression } from "@babel/types";
import {
  childrenOf,
  contains,
  isFunction,
  type Node,
  type Span,
  spanOf,
} from "../frontends/code/syntax/tree.ts";
import { type AuthorFile, sdkNameOf } from "./author-file.ts";
import type { Edit } from "./edits.ts";

/** The functions that steps run: what of a file never enters the sandbox. */
export function stepBodies(file: AuthorFile): readonly Edit[] {
  return sdkCalls(file, (name) => name === "step").flatMap((call) => {
    const body = call.arguments[1];
    if (body === undefined || call.arguments.slice(0, 2).some(isSpread)) return [];
    const span = spanOf(body);
    const isShort = span.end - span.start < "void 0".length;
    const isLast = !file.text.slice(span.end, spanOf(call).end).includes(",");
    // A list may end with a comma, so a short body without options leaves nothing at all.
    return [{ kind: "blank", span, leave: isShort && isLast ? "nothing" : "undefined" }];
  });
}

/**
 * Hands the first argument of `all`, `any` and `race` over through the SDK's `scope`, which thereby
 * knows the operations that were opened while it was evaluated. `alias` is the name for `scope`.
 */
export function scopedComposites(file: AuthorFile, alias: string): readonly Edit[] {
  return sdkCalls(file, (name) => /^(?:all|any|race)$/.test(name)).flatMap((call) => {
    const [first] = call.arguments;
    if (first === undefined || isSpread(first) || belongsToItsFunction(first)) return [];
    const { start, end } = spanOf(first);
    return [
      { kind: "insert", at: start, text: `${alias}(() => (` },
      { kind: "insert", at: end, text: "))" },
    ];
  });
}

/** The places that are blanked. */
export function blankedSpans(edits: readonly Edit[]): readonly Span[] {
  return edits.flatMap((edit) => (edit.kind === "blank" ? [edit.span] : []));
}

function sdkCalls(file: AuthorFile, isWanted: (name: string) => boolean): CallExpression[] {
  const calls: CallExpression[] = [];
  const visit = (node: Node): void => {
    if (node.type === "CallExpression" && isWanted(sdkNameOf(node.callee, file) ?? "")) {
      calls.push(node);
    }
    for (const child of childrenOf(node)) visit(child);
  };
  visit(file.program);
  return calls;
}

function isSpread(node: Node): boolean {
  return node.type === "SpreadElement";
}

/** Whether an expression cannot be moved into a function of its own. */
function belongsToItsFunction(node: Node): boolean {
  if (isFunction(node)) return false;
  return contains(
    node,
    (one) =>
      one.type === "AwaitExpression" ||
      one.type === "YieldExpression" ||
      one.type === "Super" ||
      (one.type === "Identifier" && one.name === "arguments"),
    (child) => !isFunction(child),
  );
}
