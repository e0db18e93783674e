import type { CallExpression } from "@babel/types";
import {
  childrenOf,
  contains,
  isFunction,
  type Node,
  type Span,
  spanOf,
  withoutTypes,
} from "../frontends/code/syntax/tree.ts";
import { type AuthorFile, sdkNameOf } from "./author-file.ts";
import type { Edit } from "./edits.ts";

/** The functions that steps run: what of a file never enters the sandbox. */
export function stepBodies(file: AuthorFile): readonly Edit[] {
  return sdkCalls(file, (name) => name === "step").flatMap((call) => {
    const body = call.arguments[1];
    if (body === undefined || call.arguments.slice(0, 2).some(isSpread)) return [];
    if (isInnerName(body, file)) return [];
    const span = spanOf(body);
    const isShort = span.end - span.start < "void 0".length;
    const isLast = !file.text.slice(span.end, spanOf(call).end).includes(",");
    // A list may end with a comma, so a short body without options leaves nothing at all.
    return [{ kind: "blank", span, leave: isShort && isLast ? "nothing" : "undefined" }];
  });
}

/** Lets esbuild drop the workflows of a file that no other uses: only an entry declares its own. */
export function droppableWorkflows(file: AuthorFile): readonly Edit[] {
  return sdkCalls(file, (name) => name === "workflow").map((call) => ({
    kind: "insert",
    at: spanOf(call).start,
    text: "/* @__PURE__ */ ",
  }));
}

/** A name inside of a function stands for what others give it, which cannot be found and removed. */
function isInnerName(node: Node, { names }: AuthorFile): boolean {
  const binding = names.bindingOf(withoutTypes(node));
  return binding !== undefined && names.top.get(binding.name) !== binding;
}

/**
 * Lets the SDK's `scope` evaluate the members of `all`, `any` and `race`, which thereby knows the
 * operations of each. Members of a list or an object that is written out have a scope each, all
 * others share one. `alias` is the name for `scope`.
 */
export function scopedComposites(file: AuthorFile, alias: string): readonly Edit[] {
  return sdkCalls(file, (name) => /^(?:all|any|race)$/.test(name)).flatMap((call) => {
    const [first] = call.arguments;
    if (first === undefined || isSpread(first)) return [];
    const members = membersOf(withoutTypes(first));
    const scoped = members === undefined ? [first] : members.filter((one) => !isSpread(one));
    const isShared = members?.some((one) => isSpread(one) && mayOpen(one, file)) ?? false;
    return [...scoped.filter((one) => mayOpen(one, file)), ...(isShared ? [first] : [])]
      .filter((one) => !belongsToItsFunction(one))
      .flatMap((one) => wrapped(one, alias));
  });
}

function wrapped(node: Node, alias: string): readonly Edit[] {
  const { start, end } = spanOf(node);
  return [
    { kind: "insert", at: start, text: `${alias}(() => (` },
    { kind: "insert", at: end, text: "))" },
  ];
}

/** The values of a list or an object that is written out; undefined for everything else. */
function membersOf(node: Node): readonly Node[] | undefined {
  if (node.type === "ArrayExpression") return node.elements.filter((one) => one !== null);
  if (node.type !== "ObjectExpression") return undefined;
  return node.properties
    .filter((one) => one.type !== "ObjectMethod")
    .map((one) => (one.type === "ObjectProperty" ? one.value : one));
}

/** Names and literals open nothing, and what the SDK's functions open is known without a scope. */
function mayOpen(node: Node, file: AuthorFile): boolean {
  const bare = withoutTypes(node.type === "SpreadElement" ? node.argument : node);
  if (bare.type === "Identifier" || bare.type.endsWith("Literal") || isFunction(bare)) return false;
  return bare.type !== "CallExpression" || sdkNameOf(bare.callee, file) === undefined;
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
