/**
 * 1. A variable is looked up from its reader upward; the nearest scope that has it wins.
 * 2. A result goes, name by name, to the nearest scope that already has the name, else to the
 *    process. Local variables therefore stop it.
 */
import type { Lookup } from "../../definition/expression.ts";
import type { Json, Variables } from "../../definition/json.ts";
import { type Run, writeLocals } from "./run.ts";
import { enclosing, ROOT, type Token, type Tree, tokenAt } from "./state.ts";

/** Finds variables as they are seen from a token. */
export function lookupFrom(tree: Tree, reader: Token): Lookup {
  return (name) => {
    const holder = holderOf(tree, reader, name);
    return holder?.variables && own(holder.variables, name);
  };
}

/** Everything that is visible from a token. */
export function visibleFrom(tree: Tree, reader: Token): Variables {
  let visible: Variables = {};
  for (let at: Token | undefined = reader; at !== undefined; at = enclosing(tree, at)) {
    visible = { ...at.variables, ...visible };
  }
  return visible;
}

/** Propagates results upward from a token, by rule 2. */
export function propagate(run: Run, from: Token, values: Variables): void {
  const writes = Map.groupBy(
    Object.entries(values),
    ([name]) => holderOf(run, from, name)?.id ?? ROOT,
  );
  for (const [holder, entries] of writes) writeLocals(run, holder, Object.fromEntries(entries));
}

/** Where outputs of an element start to propagate: around it; for a multi-instance item, at the item. */
export function outputScope(tree: Tree, token: Token): Token {
  return token.member === undefined ? tokenAt(tree, token.in) : token;
}

/** An object's own entry: a variable may be named `constructor`. */
export function own<T>(entries: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}

/** Whether a value is an object that paths can go into. */
export function isContext(value: Json | undefined): value is Variables {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function holderOf(tree: Tree, from: Token, name: string): Token | undefined {
  let at: Token | undefined = from;
  while (at !== undefined && !(at.variables && Object.hasOwn(at.variables, name))) {
    at = enclosing(tree, at);
  }
  return at;
}
