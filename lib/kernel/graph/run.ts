import type { Variables } from "../../definition/json.ts";
import { MAX_CONTINUATIONS, MAX_WAITS_PER_STEP } from "../../definition/limits.ts";
import { closeTicket, type Draft, noteVisit, openTicket, raiseIncident } from "../draft.ts";
import type { Ticket } from "../instance.ts";
import { Refusal } from "../refusal.ts";
import { onPath, pruned, type Thrown, together } from "./path.ts";
import type { Plan } from "./plan.ts";
import { type Move, type Phase, parseState, ROOT, type Token, tokenAt, treeOf } from "./state.ts";

/** A graph instance while one fact moves it: the draft, and the tree opened for changes. */
export type Run = {
  readonly plan: Plan;
  readonly draft: Draft;
  readonly tokens: Map<number, Token>;
  next: number;
  /** The moves of this step, first in, first out. */
  queue: Move[];
  /** Moves that an earlier, long step left to a continuation that has not run yet. */
  todo: readonly Move[];
  evaluations: number;
  /** Waits for signals and messages that this step has opened, and signals that it has thrown. */
  calls: number;
  /** The step ended before a move that would make them too many. */
  isFull: boolean;
};

/** Opens the draft's state for changes. */
export function openRun(plan: Plan, draft: Draft): Run {
  const state = parseState(draft.state);
  const { tokens } = treeOf({
    ...state,
    tokens: state.tokens.map((token) => pruned(draft, token)),
  });
  const { next, todo = [] } = state;
  return { plan, draft, tokens, next, queue: [], todo, evaluations: 0, calls: 0, isFull: false };
}

/**
 * Writes the tree back. Remaining moves continue under a continuation ticket; `round` is the number
 * of continuations directly before. One too many is taken for an endless loop.
 */
export function closeRun(run: Run, round: number): void {
  const { draft, next } = run;
  const todo = [...run.todo, ...run.queue].filter((move) => run.tokens.has(move.token));
  const tokens = [...run.tokens.values()];
  draft.state = { tokens, next, ...(todo.length > 0 && { todo }) };
  const waker = draft.tickets.find(wakesTodo);
  if (waker !== undefined && todo.length === 0) closeTicket(draft, waker.id);
  if (waker === undefined && todo.length > 0) goOnLater(run, round + 1);
}

/** Control arrives at a node: creates its token and queues it to enter. Returns the token's number. */
export function arrive(run: Run, scope: number, node: string, brings: Brings): number {
  const id = place(run, scope, node, brings);
  push(run, "enter", id);
  return id;
}

/** Creates the token of a node that control has arrived at, without queueing a move. */
export function place(run: Run, scope: number, node: string, brings: Brings): number {
  const id = reserve(run, 1);
  noteVisit(run.draft, "element-entered", { element: node, occurrence: id });
  return put(run, scope, node, { ...brings, id });
}

/** Reserves `count` token numbers; returns the first. */
export function reserve(run: Run, count: number): number {
  const first = run.next;
  run.next += count;
  return first;
}

/** Creates a token whose entering is in the history already, possibly with a reserved number. */
export function put(run: Run, scope: number, node: string, brings: Brings): number {
  const { variables, thrown, member, id = reserve(run, 1) } = brings;
  const token: Token = {
    id,
    node,
    in: scope,
    ...(variables && { variables }),
    ...(member !== undefined && { member }),
  };
  run.tokens.set(id, onPath(token, thrown));
  return id;
}

/** Where a path ends, the signals it has thrown are recorded in its scope. */
export function leavePath(run: Run, { in: scope, thrown }: Token): void {
  if (thrown === undefined || scope === ROOT) return;
  const around = tokenAt(run, scope);
  run.tokens.set(scope, onPath(around, together([around.thrown, thrown])));
}

/** What control brings to a node: local variables, signals thrown on its path, its item number. */
type Brings = Readonly<{
  variables?: Variables;
  thrown: Thrown | undefined;
  member?: number;
  id?: number | undefined;
}>;

/** Queues a phase of a token. */
export function push(run: Run, phase: Phase, token: number): void {
  run.queue.push({ do: phase, token });
}

/** Sets local variables of a token. */
export function writeLocals(run: Run, id: number, values: Variables): void {
  const token = tokenAt(run, id);
  run.tokens.set(id, { ...token, variables: { ...token.variables, ...values } });
}

/**
 * Runs a phase of a token. A refusal leaves the token as it was and stops it there, with an
 * incident that names the phase to retry.
 */
export async function attempt<T>(
  run: Run,
  { token, phase }: Readonly<{ token: Token; phase: Phase | "run" }>,
  part: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await part();
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
    const { type, message } = cause;
    run.tokens.set(token.id, token);
    raiseIncident(run.draft, { type, message, ref: token.id, element: token.node, phase });
    return undefined;
  }
}

/** The phase of the incident that holds the moves of an endless loop. */
export const CONTINUE = "continue";

function goOnLater(run: Run, round: number): void {
  const { draft, plan } = run;
  const here = { ref: ROOT, element: plan.root };
  if (round <= MAX_CONTINUATIONS) {
    openTicket(draft, { on: "continuation", ...here, round });
    return;
  }
  const message = run.isFull ? TOO_MANY_WAITS : ENDLESS_LOOP;
  raiseIncident(draft, { type: "STEP_LIMIT", message, ...here, phase: CONTINUE });
}

const ENDLESS_LOOP =
  `Control flow moved on through ${MAX_CONTINUATIONS} continuations without waiting for ` +
  "anything. Look for a loop without a task or timer; resolving lets it run on.";

const TOO_MANY_WAITS =
  `More than ${MAX_WAITS_PER_STEP * (MAX_CONTINUATIONS + 1)} waits for signals and messages were to ` +
  "be opened, or signals to be thrown, at one moment. Resolving goes on with the next of them. Open " +
  "fewer at once, for example in a sequential multi-instance; if the process does not have that " +
  "many, it goes round without a task or timer.";

function wakesTodo(ticket: Ticket): boolean {
  return ticket.on === "continuation" || (ticket.on === "incident" && ticket.phase === CONTINUE);
}
