// The promise behind all others: at every moment, even if everybody who is at work died right now,
// each thing that an instance owes is still in a queue, or the trigger that owes it is.
import { offerKey } from "../../lib/engine/keys.ts";
import { START } from "../../lib/engine/names.ts";
import {
  type Instance,
  isTerminal,
  type OutboxRecord,
  type Ticket,
} from "../../lib/kernel/instance.ts";
import type { Message } from "../../lib/ports/message.ts";
import type { Item } from "../../lib/ports/store.ts";
import { must } from "./violation.ts";

export type Ledgers = Readonly<{
  /** Everything in any queue, what is being delivered included. */
  messages: readonly Message[];
  /** Whether the engine runs this type of task. */
  runsHere: (type: string) => boolean;
  wasAnnounced: (id: string) => boolean;
  items: () => readonly Item[];
}>;

/** Throws when something is owed by nobody. */
export function checkDebts(instance: Instance, ledgers: Ledgers): void {
  const mine = ledgers.messages.filter(({ instanceId }) => instanceId === instance.id);
  const triggers = new Set(mine.flatMap(namesOf));
  const entries: readonly (Ticket | OutboxRecord)[] = [...instance.tickets, ...instance.outbox];
  for (const entry of entries) {
    if (triggers.has(entry.stamp?.by ?? "")) continue;
    const isSafe =
      "effect" in entry
        ? isSent(instance, entry, ledgers)
        : isQueued(instance, entry, mine, ledgers);
    must(
      isSafe,
      () => `${entry.id} of ${instance.id} is owed by ${entry.stamp?.by}, which no queue holds`,
    );
  }
}

/** The names under which a message can be asked for what is owed. */
function namesOf(message: Message): readonly string[] {
  const start = "start" in message && message.start ? [START] : [];
  if (message.kind === "task") return [`${message.ticket}/${message.attempt}`, ...start];
  return message.kind === "timer" ? [message.ticket] : [message.name, ...start];
}

function isSent(instance: Instance, { id, effect }: OutboxRecord, ledgers: Ledgers): boolean {
  if (effect.kind === "announce") return ledgers.wasAnnounced(`${instance.id}:${id}`);
  return isTerminal(instance);
}

function isQueued(
  instance: Instance,
  ticket: Ticket,
  messages: readonly Message[],
  { runsHere, items }: Ledgers,
): boolean {
  switch (ticket.on) {
    case "timer":
    case "incident":
      return true;
    case "continuation":
      return messages.some((message) => message.kind === "parked" && message.name === ticket.id);
    case "task":
      return runsHere(ticket.type)
        ? messages.some((message) => bringsTask(message, ticket.id, ticket.attempt))
        : isOffered(instance, ticket, items());
  }
}

function bringsTask(message: Message, ticket: string, attempt: number): boolean {
  if (message.kind === "task") return message.ticket === ticket && message.attempt === attempt;
  const fact = message.kind === "parked" ? message.fact : undefined;
  if (fact === undefined || !("ticket" in fact) || fact.ticket !== ticket) return false;
  return fact.kind === "task-completed" || ("attempt" in fact && fact.attempt === attempt);
}

function isOffered(
  { tenant, id }: Instance,
  task: Extract<Ticket, { on: "task" }>,
  items: readonly Item[],
): boolean {
  const { pk, sk } = offerKey(tenant, id, task);
  return items.some(({ key }) => key.pk === pk && key.sk === sk);
}
