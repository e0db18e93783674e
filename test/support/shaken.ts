// Random runs: an instance that gets one fact after another.
import type { Definition } from "../../lib/definition/definition.ts";
import { findTicket, isOfCalls, itemName } from "../../lib/kernel/batch.ts";
import type { Fact } from "../../lib/kernel/fact.ts";
import type { ChildTicket, Instance, Ticket } from "../../lib/kernel/instance.ts";
import { aProgram, type Play, play } from "./play.ts";

/** Plays a definition by the numbers, calling `look` with every image; returns the last one. */
export async function shaken(
  definition: Definition,
  choices: readonly number[],
  look: (instance: Instance, play: Play) => void = () => undefined,
): Promise<Instance> {
  const order = await play(aProgram(definition), { variables: { x: 1 } });
  look(order.instance, order);
  for (const choice of choices) {
    const fact = anyFact(order, choice);
    if (fact === undefined) break;
    await order.deliver(fact);
    look(order.instance, order);
  }
  return order.instance;
}

/** One of the facts that may come next; time passes for a timer. */
export function anyFact(order: Play, choice: number): Fact | undefined {
  const { tickets } = order.instance;
  const ticket = tickets[choice % tickets.length];
  if (ticket === undefined) return undefined;
  const way = Math.floor(choice / tickets.length) % 8;
  if (ticket.on === "timer") order.now = Math.max(order.now, ticket.dueAt);
  return way === 7 && choice % 5 === 0 ? { kind: "cancel-requested" } : factFor(ticket, way);
}

function factFor(ticket: Ticket, way: number): Fact {
  const { id } = ticket;
  switch (ticket.on) {
    case "timer":
      return { kind: "timer-due", ticket: id };
    case "continuation":
      return { kind: "continued", ticket: id };
    case "signal": {
      const seq = 1 + way;
      const broadcast = { broadcastId: `b${seq}`, seq, payload: { x: way } };
      return { kind: "signal-received", ticket: id, ...broadcast };
    }
    case "message":
      return { kind: "message-received", ticket: id, messageId: `m${way}`, payload: { x: way } };
    case "event":
      return { kind: "event-received", ticket: id, eventId: `e${way}`, seq: 1 + way, payload: way };
    case "child":
      return childFactFor(ticket, way);
    case "incident":
      return { kind: "incident-resolved", ticket: id, variables: { x: way } };
    case "family": {
      const member = itemName(id, way);
      if (isOfCalls(ticket)) {
        const call = findTicket([ticket], member);
        return call?.on === "child" ? childFactFor(call, way) : { kind: "continued", ticket: id };
      }
      if (way < 6) return { kind: "task-completed", ticket: member, variables: { x: way } };
      return { kind: "task-failed", ticket: member, attempt: 1, message: "no" };
    }
    case "task": {
      const { attempt } = ticket;
      if (way < 4) return { kind: "task-completed", ticket: id, variables: { x: way } };
      const failed = { kind: "task-failed", ticket: id, attempt, message: "no" } as const;
      return way === 4 ? { ...failed, code: "E" } : failed;
    }
  }
}

function childFactFor({ id, detached }: ChildTicket, way: number): Fact {
  const childId = `child-${id}`;
  if (way === 6) return { kind: "child-refused", ticket: id, message: "no such process" };
  if (detached) return { kind: "child-started", ticket: id, childId };
  const common = { kind: "child-ended", ticket: id, childId } as const;
  if (way < 4) {
    return { ...common, status: "succeeded", terminationKind: "success", result: { x: way } };
  }
  const error = { message: "no", ...(way === 4 && { code: "E" }) };
  return { ...common, status: "failed", terminationKind: "failure", error };
}
