/**
 * An interrupted scope leaves nothing armed.
 *
 * 1. Everything that is cut short goes through here: hosts of interrupting boundary events, what a
 *    caught error leaves behind, siblings of a terminate end event, all of a cancelled or timed-out
 *    instance.
 * 2. A token is removed together with every token below it and every ticket of any of them: tasks,
 *    timers, signals, messages, calls, incidents. All in the same draft, so all in one commit. A
 *    called process is cancelled by an outbox record of that commit.
 * 3. Late outcomes then find no ticket, and a queued move no token: both do nothing.
 * 4. History names what was cut short, the newest first: the inside of a scope before the scope.
 */
import { closeTickets, emit, noteVisit } from "../draft.ts";
import { endBatches } from "./batch-item.ts";
import { type Thrown, together } from "./path.ts";
import type { Run } from "./run.ts";
import { ROOT, type Token, tokenAt } from "./state.ts";

/**
 * Removes a token, everything below it, and all their tickets. Returns the signals they had thrown,
 * for the boundary event from which control continues.
 */
export function interrupt(run: Run, token: Token): Thrown {
  const gone = [token, ...below(run, token.id)];
  remove(run, gone);
  return together(gone.map(({ thrown }) => thrown));
}

/** Removes everything inside a scope but not the scope; one token may be spared. */
export function interruptInside(run: Run, scope: number, spared?: Token): void {
  remove(
    run,
    below(run, scope).filter((token) => token.id !== spared?.id),
  );
  const { joins: _, joining: __, ...emptied } = tokenAt(run, scope);
  run.tokens.set(scope, emptied);
}

/** Tokens are in order of creation, and none is created before its scope. */
function below(run: Run, scope: number): readonly Token[] {
  const inside = new Set([scope]);
  const found: Token[] = [];
  for (const token of run.tokens.values()) {
    if (token.id === ROOT || !inside.has(token.in)) continue;
    inside.add(token.id);
    found.push(token);
  }
  return found;
}

function remove(run: Run, tokens: readonly Token[]): void {
  const gone = new Set(tokens.map(({ id }) => id));
  const bodies = tokens.filter(({ body }) => body !== undefined);
  for (const body of bodies) endBatches(run.draft, body);
  for (const ticket of run.draft.tickets) {
    if (!gone.has(ticket.ref) || ticket.on !== "child" || ticket.detached) continue;
    emit(run.draft, { kind: "cancel-child", ticket: ticket.id });
  }
  closeTickets(run.draft, (ticket) => gone.has(ticket.ref));
  for (const { id, node } of tokens.toReversed()) {
    run.tokens.delete(id);
    noteVisit(run.draft, "element-terminated", { element: node, occurrence: id });
  }
}
