/**
 * The context of one decision: what its waits draw from, and what becomes of that. The decision notes
 * what it needs and was not read yet; that is read, and the decision made anew.
 */
import { MAX_WAITS_PER_STEP } from "../../definition/limits.ts";
import type { Instant } from "../../definition/time/instant.ts";
import type { Fact } from "../../kernel/fact.ts";
import { inboxEventFor } from "../../kernel/inbox.ts";
import type { EventTicket, Instance, MessageTicket, Ticket } from "../../kernel/instance.ts";
import { type Address, type Mailbox, messageFor, withoutTarget } from "../../kernel/mailbox.ts";
import type { JournalEntry } from "../../kernel/trail.ts";
import type { Topic } from "../../ports/bus.ts";
import { storeLimits } from "../../ports/store-rules.ts";
import { type KeptEvent, MAX_KEPT_READ, mayTake } from "../rows/event.ts";
import { boxName, type Posting } from "../rows/mailbox.ts";
import { type ReadHead, topicName } from "../rows/topic-head.ts";
import { isTopicTicket, openedBy } from "../rows/wait-row.ts";
import type { Missing, Sources } from "./sources.ts";

export type StepContext = {
  readonly now: Instant;
  readonly sources: Sources;
  readonly missing: Missing;
  /** Mailboxes as this decision leaves them. */
  readonly boxes: Map<string, Mailbox>;
  /** Kept events that this decision takes, and that no other may have. */
  readonly taken: KeptEvent[];
  /** Waits that may have more to take than this step could: they must be checked again. */
  readonly unserved: Set<string>;
  /** What the expressions of all decisions so far have spent. */
  work: number;
  /** The posting turned out to have no place. */
  isVoid: boolean;
};

/** A context over these sources, with the posting in its mailbox. */
export function openContext(
  sources: Sources,
  { now, posting }: Readonly<{ now: Instant; posting?: Posting | undefined }>,
): StepContext {
  const context: StepContext = {
    now,
    sources,
    missing: {
      heads: new Map(),
      boxes: new Map(),
      kept: new Set(),
      children: new Map(),
      journals: new Set(),
    },
    boxes: new Map(),
    taken: [],
    unserved: new Set(),
    work: 0,
    isVoid: false,
  };
  const box = posting && boxAt(context, posting.address);
  if (posting === undefined || box === undefined) return context;
  const version = sources.boxes.get(boxName(posting.address))?.version ?? 0;
  const changed = posting.change(box, version);
  if (changed === undefined) context.isVoid = true;
  else context.boxes.set(boxName(posting.address), changed);
  return context;
}

/** Notes what a decision has taken so far; the function that it gives undoes what was taken since. */
export function snapshot({ boxes, taken }: StepContext): () => void {
  const [boxesThen, takenThen] = [[...boxes], [...taken]];
  return () => {
    boxes.clear();
    for (const [name, box] of boxesThen) boxes.set(name, box);
    taken.splice(0, taken.length, ...takenThen);
  };
}

export const lacksAnything = ({ missing }: StepContext): boolean =>
  Object.values(missing).some(({ size }) => size > 0);

/** The head of a topic; until it is read, any will do: the decision is made anew. */
export function headAt(context: StepContext, topic: Topic): ReadHead {
  const name = topicName(topic);
  const { heads, known } = context.sources;
  const head = heads.get(name) ?? known.get(name);
  if (head === undefined) context.missing.heads.set(name, topic);
  else heads.set(name, head);
  return head ?? { version: 0, head: { seq: 0, epochs: 1 } };
}

export function boxAt(context: StepContext, { name, key }: Address): Mailbox | undefined {
  const box = boxName({ name, key });
  const known = context.boxes.get(box) ?? context.sources.boxes.get(box)?.mailbox;
  if (known === undefined) context.missing.boxes.set(box, { name, key });
  return known;
}

/** The journal as it is stored; until it is read, the decision that wants it is made anew. */
export function journalAt(
  { sources, missing }: StepContext,
  { id }: Pick<Instance, "id">,
): readonly JournalEntry[] | undefined {
  const known = sources.journals.get(id);
  if (known === undefined) missing.journals.add(id);
  return known;
}

/** What an open wait can take at once, if anything. */
export function atHand(context: StepContext, instance: Instance, ticket: Ticket): Fact | undefined {
  if (ticket.on === "message") return messageAtHand(context, instance, ticket);
  if (ticket.on === "event") return eventAtHand(context, instance, ticket);
  // What has just been called has not begun.
  if (ticket.on !== "child" || ticket.lease === undefined) return undefined;
  const { children } = context.sources;
  if (!children.has(ticket.id)) context.missing.children.set(ticket.id, ticket);
  return children.get(ticket.id);
}

function messageAtHand(
  context: StepContext,
  { id: instanceId }: Instance,
  { id: ticket, name, key }: MessageTicket,
): Fact | undefined {
  const box = boxAt(context, { name, key });
  const message = box && messageFor(box, { instanceId, ticket }, context.now);
  if (message === undefined) return undefined;
  const { mid: messageId, payload } = message;
  return { kind: "message-received", ticket, messageId, payload };
}

/** An event that was sent to this instance goes before one that is kept for any. */
function eventAtHand(
  context: StepContext,
  instance: Instance,
  wait: EventTicket,
): Fact | undefined {
  const { id: ticket, name } = wait;
  const { now, sources, missing, taken, unserved } = context;
  const sent = inboxEventFor(instance, wait, now);
  const common = { kind: "event-received", ticket } as const;
  if (sent) return { ...common, eventId: sent.id, payload: sent.payload };
  if (wait.inbox) return undefined;
  headAt(context, { kind: "event", name });
  const kept = sources.kept.get(name);
  if (kept === undefined) missing.kept.add(name);
  const event = kept?.find((it) => !taken.includes(it) && mayTake(it, instance, now));
  // Only so many were read: behind the last of them there may be more.
  if (event === undefined && (kept?.length ?? 0) >= MAX_KEPT_READ) unserved.add(ticket);
  return event && { ...common, eventId: event.id, seq: event.seq, payload: event.payload };
}

/** The fact was taken by the wait: its message or event is used up. */
export function useUp(context: StepContext, { id }: Instance, ticket: Ticket, fact: Fact): void {
  if (ticket.on === "message" && fact.kind === "message-received") {
    const box = boxAt(context, ticket);
    if (box === undefined) return;
    const target = { instanceId: id, ticket: ticket.id };
    context.boxes.set(boxName(ticket), withoutTarget(box, fact.messageId, target, true));
  }
  if (ticket.on !== "event" || fact.kind !== "event-received" || fact.seq === undefined) return;
  const event = context.sources.kept.get(ticket.name)?.find(({ seq }) => seq === fact.seq);
  if (event?.once) context.taken.push(event);
}

/**
 * Whether one more decision could need more writes than a commit takes: each may open as many waits
 * as a step may, and each of those may need two.
 */
export function isLoaded(context: StepContext, { version }: Instance, instance: Instance): boolean {
  const opened = instance.tickets.filter(({ id }) => openedBy(id) > version);
  const topics = opened.filter(isTopicTicket).length;
  const boxes = new Set([...context.boxes.keys(), ...opened.filter(isMessage).map(boxName)]).size;
  return 2 * topics + boxes + context.taken.length > MAX_LOAD;
}

/** What is left of a commit beside the instance and the waits of one more decision. */
const MAX_LOAD = storeLimits.writesPerCommit - 2 * MAX_WAITS_PER_STEP - 5;

export const isMessage = (ticket: Ticket): ticket is MessageTicket => ticket.on === "message";
