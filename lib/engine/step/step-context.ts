/**
 * The desk of one decision: what its waits draw from, laid open, and what becomes of it. What the
 * decision asks for and nobody has read yet is noted; it is then read, and the decision made anew.
 */
import { MAX_WAITS_PER_STEP } from "../../definition/limits.ts";
import type { Instant } from "../../definition/time/instant.ts";
import type { Fact } from "../../kernel/fact.ts";
import { inboxEventFor } from "../../kernel/inbox.ts";
import type {
  ChildTicket,
  EventTicket,
  Instance,
  MessageTicket,
  Ticket,
} from "../../kernel/instance.ts";
import type { Topic } from "../../ports/bus.ts";
import type { Write } from "../../ports/store.ts";
import { storeLimits } from "../../ports/store-rules.ts";
import { type KeptEvent, MAX_KEPT_READ, mayTake } from "../rows/kept-event.ts";
import type { Posting } from "../rows/mailbox.ts";
import {
  type Address,
  boxName,
  type Mailbox,
  mailboxItem,
  messageFor,
  withoutSubs,
  withoutTarget,
  withSub,
} from "../rows/mailbox.ts";
import { type ReadHead, topicName } from "../rows/topic-head.ts";
import { isTopicTicket, openedBy, rowItem, type TopicTicket, topicOf } from "../rows/wait-row.ts";
import { headKey, keptEventKey } from "../storage/keys.ts";
import type { World } from "../world.ts";
import type { Missing, Sources } from "./sources.ts";

export type StepContext = {
  readonly sources: Sources;
  readonly missing: Missing & {
    heads: Map<string, Topic>;
    boxes: Map<string, Address>;
    kept: Set<string>;
    children: Map<string, ChildTicket>;
  };
  /** Mailboxes as this decision leaves them. */
  readonly boxes: Map<string, Mailbox>;
  /** Kept events that this decision takes, and that nobody else may have. */
  readonly taken: KeptEvent[];
  /** Waits that may have more to take than this step could: somebody has to look again. */
  readonly unserved: Set<string>;
  /** What the expressions of all decisions so far have spent. */
  work: number;
  /** The posting turned out to have no place. */
  isVoid: boolean;
};

/** Lays the sources open, with the posting in its mailbox. */
export function openContext(sources: Sources, posting?: Posting): StepContext {
  const desk: StepContext = {
    sources,
    missing: { heads: new Map(), boxes: new Map(), kept: new Set(), children: new Map() },
    boxes: new Map(),
    taken: [],
    unserved: new Set(),
    work: 0,
    isVoid: false,
  };
  const box = posting && boxAt(desk, posting.address);
  if (posting === undefined || box === undefined) return desk;
  const version = sources.boxes.get(boxName(posting.address))?.version ?? 0;
  const changed = posting.change(box, version);
  if (changed === undefined) desk.isVoid = true;
  else desk.boxes.set(boxName(posting.address), changed);
  return desk;
}

/** What a decision has done to the desk so far; `restore` undoes what was done since. */
export function snapshot({ boxes, taken }: StepContext): Readonly<{ restore: () => void }> {
  const [boxesThen, takenThen] = [[...boxes], [...taken]];
  return {
    restore: () => {
      boxes.clear();
      for (const [name, box] of boxesThen) boxes.set(name, box);
      taken.splice(0, taken.length, ...takenThen);
    },
  };
}

export const lacksAnything = ({
  missing: { heads, boxes, kept, children },
}: StepContext): boolean => heads.size + boxes.size + kept.size + children.size > 0;

/** The head of a topic; until it is read, any will do: the decision is made anew. */
export function headAt(desk: StepContext, topic: Topic): ReadHead {
  const name = topicName(topic);
  const { heads, known } = desk.sources;
  const head = heads.get(name) ?? known.get(name);
  if (head === undefined) desk.missing.heads.set(name, topic);
  else heads.set(name, head);
  return head ?? { version: 0, head: { seq: 0, epochs: 1 } };
}

/** Whether another instance of the same process id waits for this message. */
export function isTaken(desk: StepContext, name: string, key: string): boolean {
  return desk.sources.boxes.get(boxName({ name, key }))?.isTaken ?? false;
}

/** What an open wait can take at once, if anything. */
export function atHand(
  desk: StepContext,
  instance: Instance,
  ticket: Ticket,
  now: Instant,
): Fact | undefined {
  if (ticket.on === "message") return messageAtHand(desk, instance, ticket, now);
  if (ticket.on === "event") return eventAtHand(desk, instance, ticket, now);
  // What has just been called has not begun.
  if (ticket.on === "child" && ticket.stamp) return childAtHand(desk, ticket);
  return undefined;
}

function childAtHand({ sources, missing }: StepContext, ticket: ChildTicket): Fact | undefined {
  if (!sources.children.has(ticket.id)) missing.children.set(ticket.id, ticket);
  return sources.children.get(ticket.id);
}

function messageAtHand(
  desk: StepContext,
  { id: instanceId }: Instance,
  { id: ticket, name, key }: MessageTicket,
  now: Instant,
): Fact | undefined {
  const box = boxAt(desk, { name, key });
  const message = box && messageFor(box, { instanceId, ticket }, now);
  if (message === undefined) return undefined;
  const { mid: messageId, payload } = message;
  return { kind: "message-received", ticket, messageId, payload };
}

/** What was sent to this instance goes before what was sent to everybody. */
function eventAtHand(
  desk: StepContext,
  instance: Instance,
  ticket: EventTicket,
  now: Instant,
): Fact | undefined {
  const sent = inboxEventFor(instance, ticket, now);
  const common = { kind: "event-received", ticket: ticket.id } as const;
  if (sent) return { ...common, eventId: sent.id, payload: sent.payload };
  const event = keptAt(desk, instance, ticket.name, now);
  // Only so many were read: behind the last of them there may be more.
  if (event === undefined && isReadOut(desk, ticket.name)) desk.unserved.add(ticket.id);
  return event && { ...common, eventId: event.id, seq: event.seq, payload: event.payload };
}

function keptAt(
  desk: StepContext,
  instance: Instance,
  name: string,
  now: Instant,
): KeptEvent | undefined {
  headAt(desk, { kind: "event", name });
  const kept = desk.sources.kept.get(name);
  if (kept === undefined) desk.missing.kept.add(name);
  return kept?.find((event) => !desk.taken.includes(event) && mayTake(event, instance, now));
}

const isReadOut = ({ sources }: StepContext, name: string): boolean =>
  (sources.kept.get(name)?.length ?? 0) >= MAX_KEPT_READ;

/**
 * Whether one more decision could need more writes than a commit takes: each may open as many waits
 * as a step may, and each of those may need two.
 */
export function isLoaded(desk: StepContext, { version }: Instance, instance: Instance): boolean {
  const opened = instance.tickets.filter(({ id }) => openedBy(id) > version);
  const topics = opened.filter(isTopicTicket).length;
  const boxes = new Set([...desk.boxes.keys(), ...opened.filter(isMessage).map(boxName)]).size;
  return 2 * topics + boxes + desk.taken.length > MAX_LOAD;
}

/** What is left of a commit beside the instance and the waits of one more decision. */
const MAX_LOAD = storeLimits.writesPerCommit - 2 * MAX_WAITS_PER_STEP - 5;

const isMessage = (ticket: Ticket): ticket is MessageTicket => ticket.on === "message";

/** The fact was taken by the wait: its message or event is used up. */
export function useUp(
  desk: StepContext,
  { id: instanceId }: Instance,
  ticket: Ticket,
  fact: Fact,
): void {
  if (ticket.on === "message" && fact.kind === "message-received") {
    const box = boxAt(desk, ticket);
    if (box === undefined) return;
    const target = { instanceId, ticket: ticket.id };
    desk.boxes.set(boxName(ticket), withoutTarget(box, fact.messageId, target, true));
  }
  if (ticket.on !== "event" || fact.kind !== "event-received" || fact.seq === undefined) return;
  const event = desk.sources.kept.get(ticket.name)?.find(({ seq }) => seq === fact.seq);
  if (event?.once) desk.taken.push(event);
}

/** Gives the waits that were opened their places: where they are found, and from which number on. */
export function placed(desk: StepContext, ticket: Ticket, version: number): Ticket {
  if (!isTopicTicket(ticket) || ticket.row) return ticket;
  const { head } = headAt(desk, topicOf(ticket));
  const row = { after: head.seq, epoch: head.epochs };
  // What an incident gives back has a new row: the old one may or may not be there.
  const again = openedBy(ticket.id) === version ? {} : { again: version };
  return { ...ticket, row: { ...row, ...again } };
}

/** The writes that belong to the instance's: all of them are made, or none. */
export function companionsOf(
  world: World,
  desk: StepContext,
  before: Instance,
  after: Instance,
): readonly Write[] {
  const topics = after.tickets.filter(isTopicTicket).filter((it) => isPlacedBy(after, it));
  return [
    ...topics.flatMap((ticket): Write[] =>
      ticket.row ? [{ put: rowItem(after, ticket, ticket.row), when: "absent" }] : [],
    ),
    ...(world.settings.host.queuesSurvive ? [] : expectedHeads(world, desk, topics)),
    ...boxWrites(world, desk, before, after),
    ...desk.taken.map(
      ({ name, seq, version }): Write => ({
        remove: keptEventKey(world.settings.tenant, name, seq),
        when: { version },
      }),
    ),
  ];
}

const isPlacedBy = ({ version }: Instance, { id, row }: TopicTicket): boolean =>
  row !== undefined && (row.again ?? openedBy(id)) === version;

/**
 * With queues in memory nobody comes back to look at the head once more after the commit: the
 * commit itself holds only if nothing was broadcast since the head was read.
 */
function expectedHeads(
  world: World,
  { sources }: StepContext,
  tickets: readonly TopicTicket[],
): readonly Write[] {
  const topics = new Map(tickets.map((ticket) => [topicName(topicOf(ticket)), topicOf(ticket)]));
  return [...topics].flatMap(([name, topic]): Write[] => {
    const head = sources.heads.get(name);
    const key = headKey(world.settings.tenant, topic);
    return head ? [{ expect: key, when: { version: head.version } }] : [];
  });
}

function boxWrites(
  world: World,
  desk: StepContext,
  before: Instance,
  after: Instance,
): readonly Write[] {
  const had = new Set(before.tickets.map(({ id }) => id));
  for (const ticket of after.tickets) {
    if (ticket.on !== "message" || had.has(ticket.id)) continue;
    const box = boxAt(desk, ticket);
    if (box) desk.boxes.set(boxName(ticket), withSub(box, subFor(after, ticket)));
  }
  const open = new Set(after.tickets.map(({ id }) => id));
  if (!world.settings.host.queuesSurvive) openLeftBoxes(desk, before, after, open);
  return [...desk.boxes].flatMap(([name, box]): Write[] => {
    const known = desk.sources.boxes.get(name);
    if (known === undefined) return [];
    const isDead = (sub: { instanceId: string; ticket: string }) =>
      sub.instanceId === after.id && !open.has(sub.ticket);
    const left = withoutSubs(box, isDead);
    if (left === known.stored) return [];
    const { version } = known;
    const put = mailboxItem(world, left, version + 1);
    return [{ put, when: version === 0 ? "absent" : { version } }];
  });
}

/**
 * With queues in memory, nobody comes back after a crash to free the places of waits that were
 * closed: they are freed in the commit that closes them, as many as fit.
 */
function openLeftBoxes(
  desk: StepContext,
  before: Instance,
  after: Instance,
  open: ReadonlySet<string>,
): void {
  for (const ticket of before.tickets.filter(isMessage)) {
    if (open.has(ticket.id) || isLoaded(desk, before, after)) continue;
    const box = boxAt(desk, ticket);
    if (box) desk.boxes.set(boxName(ticket), box);
  }
}

const subFor = ({ id, definition, version }: Instance, ticket: MessageTicket) => ({
  processId: definition.id,
  instanceId: id,
  ticket: ticket.id,
  since: ticket.since,
  version,
});

function boxAt(desk: StepContext, { name, key }: Address): Mailbox | undefined {
  const box = boxName({ name, key });
  const known = desk.boxes.get(box) ?? desk.sources.boxes.get(box)?.mailbox;
  if (known === undefined) desk.missing.boxes.set(box, { name, key });
  return known;
}
