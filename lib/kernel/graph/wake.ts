/**
 * The trigger of a waiting token has arrived.
 *
 * 1. A catch event takes the payload like a result, and completes.
 * 2. An interrupting boundary event ends its host with everything that the host had open; any other
 *    leaves the host and its own wait open. The event takes the payload like a result.
 * 3. Behind an event-based gateway the first wins: all other waits of the gateway are closed, one
 *    flow is taken, and the catch event that it leads to completes without waiting again.
 */
import type { Variables } from "../../definition/json.ts";
import { closeTickets, keepTicket, markCompleted, note, noteVisit } from "../draft.ts";
import type { SignalReceived, TicketFact } from "../fact.ts";
import type { MessageTicket, SignalTicket, TimerTicket } from "../instance.ts";
import { withSeen } from "../seen.ts";
import { interrupt } from "./interrupt.ts";
import type { Thrown } from "./path.ts";
import { type Boundary, spotOf } from "./plan.ts";
import { arrive, place, push, type Run } from "./run.ts";
import { type Token, tokenAt } from "./state.ts";
import { takeResult } from "./task.ts";
import { armAgain } from "./timer.ts";

/** A fact, and the wait it is for. */
type Coming =
  | Readonly<{ ticket: TimerTicket; fact: Extract<TicketFact, { kind: "timer-due" }> }>
  | Readonly<{ ticket: SignalTicket; fact: SignalReceived }>
  | Readonly<{ ticket: MessageTicket; fact: Extract<TicketFact, { kind: "message-received" }> }>;

/** Continues with the fact. */
export function wake(run: Run, coming: Coming): void {
  const { ticket, fact } = coming;
  const token = tokenAt(run, ticket.ref);
  const { node, boundaries } = spotOf(run.plan, token.node);
  note(run.draft, fact.kind, ticket.element, dataOf(fact));
  const boundary = boundaries.find(({ id }) => id === ticket.element);
  if (boundary !== undefined) wakeBoundary(run, token, boundary, coming);
  else if (node.kind === "event-gateway") choose(run, token, ticket.element, payloadOf(fact));
  else finish(run, token.id, payloadOf(fact));
}

function wakeBoundary(run: Run, host: Token, boundary: Boundary, coming: Coming): void {
  const thrown = boundary.interrupting ? interrupt(run, host) : goOnWaiting(run, host, coming);
  const id = arrive(run, host.in, boundary.id, { thrown });
  takePayload(run, id, payloadOf(coming.fact));
}

/** The event starts a branch of its own, beside the host. */
function goOnWaiting(run: Run, host: Token, { ticket, fact }: Coming): Thrown | undefined {
  if (ticket.on === "timer") armAgain(run, ticket);
  if (ticket.on === "signal" && fact.kind === "signal-received") {
    keepTicket(run.draft, { ...ticket, taken: withSeen(ticket.taken, fact.seq) });
  }
  return host.thrown;
}

function choose(run: Run, gateway: Token, element: string, payload: Variables | undefined): void {
  const { draft, plan } = run;
  closeTickets(draft, (ticket) => ticket.ref === gateway.id);
  noteVisit(draft, "element-completed", { element: gateway.node, occurrence: gateway.id });
  markCompleted(draft, gateway.node);
  run.tokens.delete(gateway.id);
  const flow = spotOf(plan, gateway.node).outgoing.find(({ to }) => to === element);
  note(draft, "flow-taken", flow?.id);
  finish(run, place(run, gateway.in, element, { thrown: gateway.thrown }), payload);
}

function finish(run: Run, token: number, payload: Variables | undefined): void {
  takePayload(run, token, payload);
  push(run, "complete", token);
}

function takePayload(run: Run, token: number, payload: Variables | undefined): void {
  if (payload !== undefined) takeResult(run, tokenAt(run, token), payload);
}

function payloadOf(fact: Coming["fact"]): Variables | undefined {
  return fact.kind === "timer-due" ? undefined : fact.payload;
}

function dataOf(fact: Coming["fact"]): Variables | undefined {
  switch (fact.kind) {
    case "timer-due":
      return undefined;
    case "signal-received":
      return { broadcastId: fact.broadcastId, wait: fact.ticket };
    case "message-received":
      return { messageId: fact.messageId };
  }
}
