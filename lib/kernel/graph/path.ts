/**
 * A path that throws a signal does not catch it itself; a parallel branch may.
 *
 * 1. A token knows the records in the outbox through which its path has thrown, for as long as they
 *    stand there: once a record is gone, its signal was broadcast, and what waits from then on waits
 *    for later ones.
 * 2. A path goes along flows, into scopes and out of them, through joins, and from the host of a
 *    boundary event to what follows the event.
 */
import type { Draft } from "../draft.ts";
import type { Token } from "./state.ts";

/** Ids of outbox records. */
export type Thrown = readonly string[];

type Joining = NonNullable<Token["joining"]>;

/** A token without what has left meanwhile; during a step nothing leaves. */
export function pruned(draft: Draft, token: Token): Token {
  if (token.thrown === undefined && token.joining === undefined) return token;
  const outbox = new Set(draft.outbox.map(({ id }) => id));
  const { thrown = [], joining = {}, ...bare } = token;
  const standing = (ids: Thrown): Thrown => ids.filter((id) => outbox.has(id));
  const held = Object.entries(joining).map(([flow, ids]) => [flow, standing(ids)] as const);
  return holding(onPath(bare, standing(thrown)), Object.fromEntries(held));
}

/** A token whose path has thrown this. */
export function onPath({ thrown: _, ...token }: Token, thrown: Thrown = []): Token {
  return thrown.length > 0 ? { ...token, thrown } : token;
}

/** A scope with what the paths have thrown that wait at its joins. */
export function holding({ joining: _, ...scope }: Token, joining: Joining): Token {
  const held = Object.entries(joining).filter(([, thrown]) => thrown.length > 0);
  return held.length > 0 ? { ...scope, joining: Object.fromEntries(held) } : scope;
}

/** What comes together, each once. */
export function together(paths: readonly (Thrown | undefined)[]): Thrown {
  return [...new Set(paths.flatMap((thrown) => thrown ?? []))];
}
