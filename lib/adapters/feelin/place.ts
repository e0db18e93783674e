import type { Scope } from "./run.ts";
import { NotAnExpression, partsOf, type Syntax } from "./syntax.ts";

/** A compiled expression, or a part of one. */
export type Code = (scope: Scope) => unknown;

/** The context of a part: the whole text, the names bound around it, the variables read so far. */
export type Place = Readonly<{
  text: string;
  bound: ReadonlySet<string>;
  reads: Set<string>;
  /** Compiles any node; passed along so that the compilers of single nodes need not know all. */
  compile: (node: Syntax, place: Place) => Code;
}>;

/** The same place with more names bound. */
export function binding(place: Place, ...names: readonly string[]): Place {
  return { ...place, bound: new Set([...place.bound, ...names]) };
}

/** Compiles the nth part of a node. */
export function compileNth(node: Syntax, n: number, place: Place): Code {
  return place.compile(nth(node, n), place);
}

/** The nth part of a node; the grammar puts it there. */
export function nth(node: Syntax, n: number): Syntax {
  const part = partsOf(node)[n];
  if (part === undefined) throw new NotAnExpression(`a part of <${node.name}> is missing`);
  return part;
}

/** The source text of a node. */
export function textOf(node: Syntax, { text }: Place): string {
  return text.slice(node.from, node.to);
}

/** The name in a node: without backticks, any white space as one space. */
export function nameOf(node: Syntax, place: Place): string {
  return textOf(node, place).replaceAll("`", "").trim().replace(/\s+/g, " ");
}

/** What one run of a part costs: longer text costs more. */
export function stepsOf({ from, to }: Syntax): number {
  return 1 + ((to - from) >> 4);
}
