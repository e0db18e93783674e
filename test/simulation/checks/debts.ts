// The promise behind all others: at every moment, even if all actors crashed right now, everything
// that an instance owes is still in a queue, or its trigger is.

import { parseOffer } from "../../../lib/engine/rows/task-row.ts";
import { offersPk } from "../../../lib/engine/storage/keys.ts";
import { START } from "../../../lib/engine/storage/names.ts";
import { type BatchItem, itemsOf } from "../../../lib/kernel/batch.ts";
import {
  type BatchTicket,
  type Instance,
  isTerminal,
  type OutboxRecord,
  type Ticket,
  type TicketlessEffect,
} from "../../../lib/kernel/instance.ts";
import type { Message, PagedRow, WorkMessage } from "../../../lib/ports/message.ts";
import type { Item } from "../../../lib/ports/store.ts";
import { type CallTree, isPagedToCancel } from "./call-tree.ts";
import { missingRows } from "./user-task-rows.ts";
import { must } from "./violation.ts";

export type Ledgers = Readonly<{
  /** Everything in any queue, including what is being delivered. */
  messages: readonly Message[];
  /** Whether the engine has a handler for this task type; unknown if only some hosts do. */
  runsHere: (type: string) => boolean | undefined;
  /** Whether a record of an outbox, `<instance>:<record>`, was sent. */
  wasSent: (id: string, effect: TicketlessEffect) => boolean;
  /** The number of a broadcast among those of its name. */
  seqOf: (broadcastId: string) => number | undefined;
  items: () => readonly Item[];
  /** Whether a user's own queue holds this attempt. */
  isInOwnQueue: (taskId: string, attempt: number) => boolean;
  callTree: CallTree;
}>;

/** Throws when something is owed without a message for it. */
export function checkDebts(instance: Instance, ledgers: Ledgers): void {
  const mine = addressedTo(instance, ledgers);
  const entries: readonly (Ticket | OutboxRecord)[] = [...instance.tickets, ...instance.outbox];
  for (const entry of entries) {
    const by = entry.lease?.trigger ?? "";
    if (isHeld(instance, by, ledgers)) continue;
    const isSafe =
      "effect" in entry
        ? isSent(instance, entry, ledgers)
        : isQueued(instance, entry, mine, ledgers);
    must(
      isSafe,
      () =>
        `${entry.id} of ${instance.id} is owed by ${entry.lease?.trigger}, which no queue holds`,
    );
  }
}

type Addressed = Exclude<Message, WorkMessage>;

const addressedTo = ({ id }: Instance, { messages }: Ledgers): readonly Addressed[] =>
  messages.filter(
    (message): message is Addressed => "instanceId" in message && message.instanceId === id,
  );

/** Whether a queue holds what will ask for the debts of this name, here or through its caller or children. */
function isHeld(instance: Instance, by: string, ledgers: Ledgers): boolean {
  if (addressedTo(instance, ledgers).flatMap(namesOf).includes(by)) return true;
  if (isBroughtByFanOut(instance, by, ledgers)) return true;
  if (isPagedToCancel(instance, by, ledgers.messages)) return true;
  const sender = ledgers.callTree.senderOf(instance, by);
  return sender !== undefined && isHeld(sender.instance, sender.by, ledgers);
}

/**
 * What a broadcast's delivery owes is sent by the next delivery through the row: there must be a
 * part of the fan-out that will, and the row must still be there unless that part names it.
 */
function isBroughtByFanOut(
  { id, definition }: Instance,
  by: string,
  { messages, seqOf, items }: Ledgers,
): boolean {
  const [ticket, seq] = by.split("@");
  if (by !== START && !/^\d+$/.test(seq ?? "")) return false;
  const isRow = (row: PagedRow) =>
    "definitionId" in row
      ? by === START && row.definitionId === definition.id
      : row.instanceId === id && row.ticket === ticket;
  const isNamed = messages.some((message) => message.kind === "page" && message.rows.some(isRow));
  if (isNamed) return true;
  const suffix = by === START ? `D#${definition.id}` : `#${id}#${ticket}`;
  const hasRow = () => items().some(({ key }) => key.sk.endsWith(suffix));
  const isOfIt = (broadcastId: string) => by === START || seqOf(broadcastId) === Number(seq);
  const isComing = messages.some(
    (message) =>
      (message.kind === "broadcast" || message.kind === "shard") && isOfIt(message.broadcastId),
  );
  const isLookedAt = () =>
    items().some(({ key, lookAt }) => {
      const [, kind, broadcastId = ""] = key.pk.split("#");
      return kind === "B" && lookAt !== undefined && isOfIt(broadcastId);
    });
  return (isComing || isLookedAt()) && hasRow();
}

/** The names under which a message can send what is owed. */
function namesOf(message: Addressed): readonly string[] {
  const start = "start" in message && message.start ? [START] : [];
  if (message.kind === "task") return [`${message.ticket}/${message.attempt}`, ...start];
  if (message.kind === "timer-start") return [];
  return message.kind === "timer" ? [message.ticket] : [message.name, ...start];
}

function isSent(instance: Instance, { id, effect }: OutboxRecord, ledgers: Ledgers): boolean {
  if (effect.kind === "expire-chunks") return isTerminal(instance);
  return ledgers.wasSent(`${instance.id}:${id}`, effect);
}

function isQueued(
  instance: Instance,
  ticket: Ticket,
  messages: readonly Addressed[],
  ledgers: Ledgers,
): boolean {
  const { runsHere, items, callTree } = ledgers;
  switch (ticket.on) {
    case "timer":
    case "incident":
    case "message":
      return true;
    // Whether what they missed reaches them is checked when everything rests.
    case "signal":
    case "event":
      return true;
    case "child":
      return callTree.childOf(instance.id, ticket.id) !== undefined;
    case "continuation":
      return messages.some((message) => message.kind === "parked" && message.name === ticket.id);
    case "family":
      return isBatchQueued(instance, ticket, messages, ledgers);
    case "task": {
      // A message is enough, also if its handler is gone: its consumer hands the task back.
      if (messages.some((it) => bringsTask(it, ticket.id, ticket.attempt))) return true;
      return (
        (runsHere(ticket.type) !== true && isOffered(instance, ticket, items())) ||
        ledgers.isInOwnQueue(`${instance.id}.${ticket.id}`, ticket.attempt)
      );
    }
  }
}

/** Each item by its message, by its outcome, or by the page that will send it. */
function isBatchQueued(
  instance: Instance,
  family: BatchTicket,
  messages: readonly Message[],
  { runsHere, items, callTree }: Ledgers,
): boolean {
  const isPaged = ({ member }: BatchItem) =>
    messages.some(
      (message) =>
        message.kind === "members" &&
        message.ticket === family.id &&
        message.from <= member &&
        member < message.to,
    );
  return itemsOf(family).every((member) => {
    const isBrought = messages.some(
      (message) =>
        (message.kind === "task" && message.ticket === member.id) ||
        (message.kind === "parked" &&
          "ticket" in message.fact &&
          message.fact.ticket === member.id),
    );
    if (isBrought || isPaged(member)) return true;
    if (member.on === "child") return callTree.childOf(instance.id, member.id) !== undefined;
    return runsHere(member.type) !== true && isOffered(instance, member, items());
  });
}

function bringsTask(message: Message, ticket: string, attempt: number): boolean {
  if (message.kind === "task") return message.ticket === ticket && message.attempt === attempt;
  const fact = message.kind === "parked" ? message.fact : undefined;
  if (fact === undefined || !("ticket" in fact) || fact.ticket !== ticket) return false;
  return fact.kind === "task-completed" || ("attempt" in fact && fact.attempt === attempt);
}

/** A row of this attempt points to it, open or locked. */
function isOffered(
  { tenant, id }: Instance,
  task: Extract<Ticket, { on: "task" }>,
  items: readonly Item[],
): boolean {
  if (task.person !== undefined) return missingRows({ tenant, id }, task, items).length === 0;
  const pk = offersPk(tenant, task.type, 0);
  return items.some(({ key, body }) => {
    if (key.pk !== pk) return false;
    const { instanceId, ticket, attempt } = offerIn(body);
    // The row of an item knows its attempt.
    const isIt = task.member !== undefined || attempt === task.attempt;
    return instanceId === id && ticket === task.id && isIt;
  });
}

/** Rows are looked at after every turn; each is parsed once. */
function offerIn(body: Uint8Array): Offer {
  const known = offers.get(body);
  if (known) return known;
  const offer = parseOffer(body);
  offers.set(body, offer);
  return offer;
}

type Offer = ReturnType<typeof parseOffer>;
const offers = new WeakMap<Uint8Array, Offer>();
