/**
 * A join takes one token of each incoming flow; surplus tokens wait for the next round. The scope
 * records what waits: how often each flow was taken, and which signals its paths have thrown.
 */
import type { Flow } from "../../definition/graph.ts";
import { Refusal } from "../refusal.ts";
import { holding, type Thrown, together } from "./path.ts";
import type { Run } from "./run.ts";
import { type Joins, tokenAt } from "./state.ts";
import { own } from "./variables.ts";

type Reached = Readonly<{
  scope: number;
  flow: Flow;
  incoming: readonly Flow[];
  thrown: Thrown | undefined;
}>;

/** A flow to a join is taken; returns whether the join now has one of each. */
export function reachJoin(run: Run, { scope, flow, incoming, thrown }: Reached): boolean {
  const { joins = {}, ...token } = tokenAt(run, scope);
  const { joining = {} } = token;
  const arrived: Joins = { ...joins, [flow.id]: (own(joins, flow.id) ?? 0) + 1 };
  const isFull = incoming.every(({ id }) => Object.hasOwn(arrived, id));
  const kept = isFull ? withoutOneEach(arrived, incoming) : arrived;
  const held = { ...joining, [flow.id]: together([own(joining, flow.id), thrown]) };
  const waiting = Object.keys(kept).length > 0 ? { ...token, joins: kept } : token;
  run.tokens.set(scope, holding(waiting, held));
  return isFull;
}

/** The signals that the joined paths have thrown; those of paths that still wait stay. */
export function leaveJoin(run: Run, scope: number, incoming: readonly Flow[]): Thrown {
  const token = tokenAt(run, scope);
  const { joining = {}, joins = {} } = token;
  const waiting = Object.entries(joining).filter(([id]) => Object.hasOwn(joins, id));
  run.tokens.set(scope, holding(token, Object.fromEntries(waiting)));
  return together(incoming.map(({ id }) => own(joining, id)));
}

/** Why a scope cannot complete whose joins still wait. */
export function deadlock(scope: string, joins: Joins): Refusal {
  const flows = Object.keys(joins).join(", ");
  return new Refusal(
    "DEADLOCK",
    `Nothing runs in "${scope}" any more that could complete the joins which these flows have reached: ${flows}. The model has a split that does not match its join; cancel the instance and deploy a corrected version.`,
  );
}

function withoutOneEach(arrived: Joins, incoming: readonly Flow[]): Joins {
  const ids = new Set(incoming.map(({ id }) => id));
  return Object.fromEntries(
    Object.entries(arrived)
      .map(([id, count]) => [id, ids.has(id) ? count - 1 : count] as const)
      .filter(([, count]) => count > 0),
  );
}
