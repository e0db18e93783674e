import { contains, isWithin, type Node, type Span, spanOf } from "../frontends/code/syntax/tree.ts";
import type { AuthorFile } from "./author-file.ts";

/** The names that esbuild calls for the JSX that is not cut: React's, or those that a comment names. */
export function jsxNames({ program, text }: AuthorFile, cut: readonly Span[]): readonly string[] {
  const isKept = (node: Node) => !cut.some((span) => isWithin(spanOf(node), span));
  if (!text.includes("<") || !contains(program, isJsx, isKept)) return [];
  const pragmas = text.matchAll(/@jsx(?:Frag)?\s+([\w$]+)/g);
  return ["React", ...Array.from(pragmas, ([, name]) => name ?? "")];
}

function isJsx(node: Node): boolean {
  return node.type === "JSXElement" || node.type === "JSXFragment";
}
