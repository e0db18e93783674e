/**
 * The state of a graph instance: one tree of tokens.
 *
 * 1. A token is one occurrence of an element: it is created when control arrives and removed when
 *    control has left. A token on a scope is the scope of the tokens inside it.
 * 2. Token 0 is the process itself. It is inside itself, so that every token is inside one.
 * 3. `variables` of a token are local to it; what is visible is found upward, the nearest first.
 * 4. A ticket's `ref` is the number of the token that it belongs to. Numbers are never used again.
 * 5. Tokens are values: a changed one is a new one.
 */
import type { Json, Variables } from "../../definition/json.ts";
import type { StartInput } from "../fact.ts";

export type State = Readonly<{
  tokens: readonly Token[];
  /** The number of the next token. */
  next: number;
  /** Moves that a long step left to its continuation. */
  todo?: readonly Move[];
}>;

export type Token = Readonly<{
  id: number;
  node: string;
  in: number;
  variables?: Variables;
  /** Outbox records by which the path up to here has thrown signals that may be in flight. */
  thrown?: readonly string[];
  /** Flows that have reached a join inside this scope, and how often, until the join takes them. */
  joins?: Joins;
  /** The signals thrown by paths that wait at joins inside this scope, by flow. */
  joining?: Readonly<Record<string, readonly string[]>>;
  /** Of the process until it is entered: its start event, and the payload. */
  trigger?: NonNullable<StartInput["trigger"]>;
  /** Of a multi-instance body: its list and its progress. */
  body?: Body;
  /** Of a multi-instance item, which is inside the body at the same node: its number, from 0. */
  member?: number;
}>;

export type Body = Readonly<{
  /** As the list was when the body was entered. */
  items: readonly Json[];
  /** The results of the input mappings of each item of a batch; other items compute their own. */
  inputs?: readonly Variables[];
  /** Of a batch: the token number of the first item; absent where format 4 started it. */
  first?: number;
  /** Items that have started, in the order of the list, and those that have completed. */
  begun: number;
  done: number;
  /** The collected outputs, null where there is none yet, in pages: only a changed page is stored. */
  outputs?: readonly (readonly Json[])[];
}>;

export type Joins = Readonly<Record<string, number>>;

/** The phase that a token is about to run. */
export type Phase = "enter" | "complete" | "leave";

export type Move = Readonly<{ do: Phase; token: number }>;

/** The tokens of an instance, by number. */
export type Tree = Readonly<{ tokens: ReadonlyMap<number, Token> }>;

/** The number of the process's own token. */
export const ROOT = 0;

/** Parses the state that this runner wrote; an instance that never ran has none yet. */
export function parseState(json: Json): State {
  const written = typeof json === "object" && json !== null && "tokens" in json;
  return written ? (json as State) : { tokens: [], next: ROOT + 1 };
}

/** The tree of an instance's state. */
export function treeOf(state: State): { tokens: Map<number, Token> } {
  return { tokens: new Map(state.tokens.map((token) => [token.id, token])) };
}

/** The token of this number, which must be there. */
export function tokenAt({ tokens }: Tree, id: number): Token {
  const token = tokens.get(id);
  if (token === undefined) throw new Error(`The state has no token ${id}.`);
  return token;
}

/** The scope that a token is in; none for the process itself. */
export function enclosing(tree: Tree, token: Token): Token | undefined {
  return token.id === ROOT ? undefined : tokenAt(tree, token.in);
}

/** Whether nothing is left inside a scope. */
export function isEmpty({ tokens }: Tree, scope: number): boolean {
  for (const token of tokens.values()) {
    if (token.in === scope && token.id !== ROOT) return false;
  }
  return true;
}
