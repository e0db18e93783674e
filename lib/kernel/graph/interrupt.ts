/**
 * An interrupted scope leaves nothing armed.
 *
 * 1. Whatever is cut short goes through here: hosts of interrupting boundary events, what a caught
 *    error leaves behind, siblings of a terminate end, all of a cancelled or timed-out instance.
 * 2. A token goes together with every token below it and with every ticket of any of them: tasks,
 *    timers, signals, messages, calls, incidents. All in the draft at hand, so all in one commit.
 *    What a call waits for is cancelled: the order to do so leaves after that commit.
 * 3. Late outcomes then find no ticket, and a queued move no token: neither does anything.
 * 4. History names what was cut short, the newest first: what is inside a scope before the scope.
 */
import { closeTickets, emit, noteVisit } from "../draft.ts";
import { endBatches } from "./batch-item.ts";
import { type Thrown, together } from "./path.ts";
import type { Run } from "./run.ts";
import { ROOT, type Token, tokenAt } from "./state.ts";

/**
 * Removes a token, everything below it, and every ticket of theirs. Gives what they had thrown:
 * control goes on from the boundary event that this is done for.
 */
export function interrupt(run: Run, token: Token): Thrown {
  const gone = [token, ...below(run, token.id)];
  remove(run, gone);
  return together(gone.map(({ thrown }) => thrown));
}

/** Removes all that is inside a scope but not the scope; one token may be spared. */
export function interruptInside(run: Run, scope: number, spared?: Token): void {
  remove(
    run,
    below(run, scope).filter((token) => token.id !== spared?.id),
  );
  const { joins: _, joining: __, ...emptied } = tokenAt(run, scope);
  run.tokens.set(scope, emptied);
}

/** Tokens stand in the order of their making, and none is made before the one that it is in. */
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
  const families = tokens.filter(({ body }) => body !== undefined);
  for (const body of families) endBatches(run.draft, body);
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
