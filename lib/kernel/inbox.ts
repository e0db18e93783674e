/**
 * Events that were sent to one instance.
 *
 * 1. An event is taken in once: the instance remembers the latest ids that it was sent.
 * 2. A wait for its name takes it; otherwise it stays unread, up to the limits, until such a wait
 *    opens. The oldest is read first.
 * 3. What has expired is never read, and does not count against the limits.
 * 4. An end leaves nothing unread: each event goes where its type said.
 */
import { MAX_INBOX_BYTES, MAX_INBOX_EVENTS, MAX_REMEMBERED_EVENTS } from "../definition/limits.ts";
import type { Instant } from "../definition/time/instant.ts";
import type { Ended } from "./ending.ts";
import type { EventReceived } from "./fact.ts";
import type { EventTicket, Instance, Seen, Ticket, TicketlessEffect } from "./instance.ts";
import { jsonBytes } from "./json-bytes.ts";
import type { QueuedEvent } from "./queued-event.ts";
import { hasSeen, NOTHING_SEEN, withSeen } from "./seen.ts";

/** The state of an instance that concerns events. */
type Events = {
  inbox: readonly QueuedEvent[];
  sentEvents: readonly string[];
  seenEvents: Readonly<Record<string, Seen>>;
};

/** Whether the instance has room for one more unread event. */
export function fitsInbox({ inbox }: Pick<Instance, "inbox">, event: QueuedEvent): boolean {
  const unread = [...inbox.filter(isUnexpired(event.at)), event];
  const bytes = jsonBytes(unread.map(({ payload }) => payload));
  return unread.length <= MAX_INBOX_EVENTS && bytes <= MAX_INBOX_BYTES;
}

/** The unread event that a wait takes first; none when it has to wait. */
export function inboxEventFor(
  { inbox }: Pick<Instance, "inbox">,
  { name }: EventTicket,
  now: Instant,
): QueuedEvent | undefined {
  return inbox.filter(isUnexpired(now)).find((event) => event.name === name);
}

/** The wait that has been open longest for an event of this name. */
export function waitFor(tickets: readonly Ticket[], name: string): EventTicket | undefined {
  for (const ticket of tickets) if (ticket.on === "event" && ticket.name === name) return ticket;
  return undefined;
}

/** Whether the instance accepts this event, by rules 1 and 2. */
export function isExpected(instance: Instance, event: QueuedEvent): boolean {
  if (instance.sentEvents.includes(event.id)) return false;
  return waitFor(instance.tickets, event.name) !== undefined || fitsInbox(instance, event);
}

/** Whether the event for a wait is still unread: nothing is read twice. */
export function isUnread(
  { inbox, seenEvents }: Events,
  { name }: EventTicket,
  { eventId, seq }: EventReceived,
  now: Instant,
): boolean {
  if (seq !== undefined) return !hasSeen(seenOf(seenEvents, name), seq);
  return inbox.some((event) => event.id === eventId && isUnexpired(now)(event));
}

/** Remembers that the event was sent. */
export function rememberSent(events: Events, { id }: QueuedEvent): void {
  if (events.sentEvents.includes(id)) return;
  events.sentEvents = [...events.sentEvents, id].slice(-MAX_REMEMBERED_EVENTS);
}

/** Keeps the event for a wait that is still to come. */
export function keepUnread(events: Events, event: QueuedEvent, now: Instant): void {
  const at = now > event.at ? now : event.at;
  events.inbox = [...events.inbox.filter(isUnexpired(at)), event];
}

/** Remembers that the event was read, and drops expired ones of its name. */
export function rememberRead(
  events: Events,
  { name }: EventTicket,
  { eventId, seq }: EventReceived,
  now: Instant,
): void {
  if (seq !== undefined) {
    const seen = withSeen(seenOf(events.seenEvents, name), seq);
    events.seenEvents = { ...events.seenEvents, [name]: seen };
    return;
  }
  events.inbox = events.inbox.filter(
    (event) => event.id !== eventId && (event.name !== name || isUnexpired(now)(event)),
  );
}

/** What becomes of unread events when the instance ends, by rule 4. */
export function effectsOfUnread(
  unread: readonly QueuedEvent[],
  targetStatus: Ended,
  now: Instant,
): readonly TicketlessEffect[] {
  return unread.filter(isUnexpired(now)).flatMap((event) => effectsOf(event, targetStatus));
}

function effectsOf(event: QueuedEvent, targetStatus: Ended): readonly TicketlessEffect[] {
  switch (event.onTargetTerminated) {
    case "discard":
      return [];
    case "broadcast":
      return [{ kind: "send-event", event }];
    case "deadLetter":
      return [{ kind: "bury", event, targetStatus }];
  }
}

const isUnexpired =
  (now: Instant) =>
  ({ expiresAt }: QueuedEvent): boolean =>
    expiresAt > now;

/** What the instance has seen of the broadcast events of a name. */
export const seenOf = (seen: Events["seenEvents"], name: string): Seen =>
  (Object.hasOwn(seen, name) ? seen[name] : undefined) ?? NOTHING_SEEN;
