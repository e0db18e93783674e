/**
 * An interrupted scope leaves nothing armed.
 *
 * 1. Whatever is cut short goes through here: hosts of interrupting boundary events, what a caught
 *    error leaves behind, siblings of a terminate end, all of a cancelled or timed-out instance.
 * 2. A token goes together with every token below it and with every ticket of any of them: tasks,
 *    timers, incidents. All in the draft at hand, so all in one commit.
 * 3. Late outcomes then find no ticket, and a queued move no token: neither does anything.
 * 4. History names what was cut short, children before the scope that held them.
 */
import { closeTickets, note } from "../draft.ts";
import type { Run } from "./run.ts";
import { type Token, tokenAt, tokensIn } from "./state.ts";

/** Removes a token, everything below it, and every ticket of theirs. */
export function interrupt(run: Run, token: Token): void {
  const gone = new Set<number>();
  remove(run, token, gone);
  closeTickets(run.draft, (ticket) => gone.has(ticket.ref));
}

/** Removes all that is inside a scope but not the scope; one token may be spared. */
export function interruptInside(run: Run, scope: number, spared?: Token): void {
  for (const token of tokensIn(run, scope)) {
    if (token.id !== spared?.id) interrupt(run, token);
  }
  const { joins: _, ...emptied } = tokenAt(run, scope);
  run.tokens.set(scope, emptied);
}

function remove(run: Run, token: Token, gone: Set<number>): void {
  for (const inner of tokensIn(run, token.id)) remove(run, inner, gone);
  run.tokens.delete(token.id);
  gone.add(token.id);
  note(run.draft, "element-terminated", token.node);
}
