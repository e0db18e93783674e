/**
 * An instance while a decision is being made: the one place where the kernel mutates state. It
 * lives for one decision and is never shared; `finish` turns it into values again.
 */

import { type Budget, type Expressions, fullBudget } from "../definition/expression.ts";
import type { Json } from "../definition/json.ts";
import {
  MAX_ERROR_NAME_LENGTH,
  MAX_MESSAGE_LENGTH,
  MAX_STACK_LENGTH,
} from "../definition/limits.ts";
import type { Instant } from "../definition/time/instant.ts";
import type { Ended, InstanceError, TerminationKind, Traced } from "./ending.ts";
import { effectsOfUnread } from "./inbox.ts";
import type {
  IncidentTicket,
  IncidentType,
  Instance,
  Notice,
  OutboxRecord,
  Seen,
  Ticket,
  TicketlessEffect,
} from "./instance.ts";
import type { QueuedEvent } from "./queued-event.ts";
import { entryOf, type JournalEntry, type Told, type TrailEntry, type TrailType } from "./trail.ts";

export type Draft = {
  readonly before: Instance;
  readonly now: Instant;
  readonly seed: string;
  readonly expressions: Expressions;
  /**
   * What the evaluations of this decision may still use: new for each decision, so that it stays
   * pure.
   */
  readonly budget: Budget;
  readonly isTaken: (name: string, key: string) => boolean;
  readonly pastJournal: () => readonly JournalEntry[] | undefined;
  /** The runner's state, read once and written back by the runner. */
  state: Json;
  tickets: Ticket[];
  outbox: OutboxRecord[];
  minted: number;
  completed: string[];
  trail: TrailEntry[];
  journal: JournalEntry[];
  inbox: readonly QueuedEvent[];
  sentEvents: readonly string[];
  seenEvents: Readonly<Record<string, Seen>>;
  /** An error that nothing catches ends the instance, by its definition. */
  failsUncaught: boolean;
  /** The first uncaught error. */
  uncaught?: InstanceError;
  ended?: Readonly<{ status: Ended; kind: TerminationKind; error?: InstanceError }>;
};

/** What a decision gets from outside: time and chance, and the expression engines. */
export type Given = Readonly<{
  now: Instant;
  seed: string;
  expressions: Expressions;
  /**
   * Whether another instance of this process waits for that message and key; absent: none does.
   * For this instance the kernel looks at its own tickets.
   */
  isTaken?: (name: string, key: string) => boolean;
  /**
   * The part of the journal that has left the instance; absent, or undefined: it was not read, and
   * the decision that asks for it is made anew.
   */
  pastJournal?: () => readonly JournalEntry[] | undefined;
}>;

export function draftOf(instance: Instance, given: Given): Draft {
  return {
    before: instance,
    now: given.now,
    seed: given.seed,
    expressions: given.expressions,
    budget: fullBudget(),
    isTaken: given.isTaken ?? (() => false),
    pastJournal: given.pastJournal ?? (() => undefined),
    state: instance.state,
    tickets: [...instance.tickets],
    outbox: [...instance.outbox],
    minted: instance.minted,
    completed: [...instance.completed],
    trail: [],
    journal: [],
    inbox: instance.inbox,
    sentEvents: instance.sentEvents,
    seenEvents: instance.seenEvents,
    failsUncaught: false,
  };
}

/** The instance that the draft has become; only the engine sets its version. */
export function finish(draft: Draft): Instance {
  const { before, ended } = draft;
  return {
    ...before,
    state: draft.state,
    tickets: draft.tickets,
    outbox: draft.outbox,
    minted: draft.minted,
    completed: draft.completed,
    inbox: draft.inbox,
    sentEvents: draft.sentEvents,
    seenEvents: draft.seenEvents,
    lastNow: draft.now,
    trail: {
      next: before.trail.next + draft.trail.length,
      entries: [...before.trail.entries, ...draft.trail],
    },
    ...(draft.journal.length > 0 && { journal: grownJournal(draft) }),
    ...(ended && {
      status: ended.status,
      terminationKind: ended.kind,
      endedAt: draft.now,
      ...(ended.error && { error: ended.error }),
    }),
  };
}

function grownJournal({ before, journal }: Draft): NonNullable<Instance["journal"]> {
  const { next, entries } = before.journal ?? { next: 1, entries: [] };
  return { next: next + journal.length, entries: [...entries, ...journal] };
}

/** A ticket before it has its id and its time of opening. */
export type NewTicket = Ticket extends infer T
  ? T extends Ticket
    ? Omit<T, "id" | "since" | "lease">
    : never
  : never;

/** Opens a ticket under an id that was never used before. */
export function openTicket(draft: Draft, ticket: NewTicket): string {
  const id = mint(draft, LETTER[ticket.on]);
  draft.tickets.push({ ...ticket, id, since: draft.now });
  return id;
}

/** Closes a ticket; late outcomes find nothing. */
export function closeTicket(draft: Draft, id: string): void {
  draft.tickets = draft.tickets.filter((ticket) => ticket.id !== id);
}

/** Closes every ticket that `which` selects, so that interrupted work leaves nothing armed. */
export function closeTickets(draft: Draft, which: (ticket: Ticket) => boolean): void {
  draft.tickets = draft.tickets.filter((ticket) => !which(ticket));
}

/** Keeps a ticket's id and drops its lease: the trigger that decided this now owes it. */
export function reopenTicket(draft: Draft, ticket: Ticket): void {
  const { lease: _, ...renewed } = ticket;
  draft.tickets = draft.tickets.map((open) => (open.id === ticket.id ? renewed : open));
}

/** Replaces an open ticket; its lease does not change. */
export function keepTicket(draft: Draft, ticket: Ticket): void {
  draft.tickets = draft.tickets.map((open) => (open.id === ticket.id ? ticket : open));
}

/** Adds an entry to the history. */
export function note(draft: Draft, type: TrailType, element?: string, data?: Json): void {
  noteVisit(draft, type, { element, data });
}

/** Adds an entry about one visit of an element. */
export function noteVisit({ before, now, trail }: Draft, type: TrailType, told: Told): void {
  trail.push(entryOf({ seq: before.trail.next + trail.length, at: now, type }, told));
}

/** Records the outcome of an operation for replays of the program; the kernel never reads it. */
export function enterInJournal(draft: Draft, element: number, outcome: Json): void {
  draft.journal.push([element, draft.now, outcome]);
}

/** Remembers that an element has completed at least once. */
export function markCompleted(draft: Draft, element: string): void {
  if (!draft.completed.includes(element)) draft.completed.push(element);
}

/**
 * Raises an incident: this path stops until it is resolved, and the rest of the instance continues.
 * Where uncaught errors end the instance, this is one, and the instance ends with the step.
 */
export function raiseIncident(draft: Draft, incident: NewIncident): void {
  const { type, element } = incident;
  const message = excerpt(incident.message);
  if (draft.failsUncaught && !NO_ERRORS.has(type)) {
    draft.uncaught ??= { code: type, message, element, ...tracedOf(incident) };
    return;
  }
  const id = openTicket(draft, { ...incident, ...tracedOf(incident), message, on: "incident" });
  note(draft, "incident-raised", element, { incidentId: id, type, message });
  announce(draft, { type: "incident-raised", incidentId: id, element, message });
}

/** As much of an error message as state and history keep. */
export function excerpt(message: string): string {
  return message.slice(0, MAX_MESSAGE_LENGTH);
}

/** Not errors of the model or of its tasks: these need an operator, whatever the policy. */
const NO_ERRORS: ReadonlySet<IncidentType> = new Set<IncidentType>([
  "UNKNOWN",
  "STATE_TOO_LARGE",
  "NON_DETERMINISM",
]);

/** As much of an error's name and stack as state keeps. */
const tracedOf = ({ name, stack }: Traced): Traced => ({
  ...(name !== undefined && { name: name.slice(0, MAX_ERROR_NAME_LENGTH) }),
  ...(stack !== undefined && { stack: stack.slice(0, MAX_STACK_LENGTH) }),
});

type NewIncident = Readonly<{ type: IncidentType; message: string; ref: number; element: string }> &
  Pick<IncidentTicket, "phase" | "kept" | "members" | "name" | "stack" | "site">;

/** Ends the instance for good, with nothing left armed. */
export function end(
  draft: Draft,
  status: Ended,
  kind: TerminationKind,
  error?: InstanceError,
): void {
  const unread = [...draft.inbox, ...draft.tickets.flatMap(eventsKeptBy)];
  draft.tickets = [];
  draft.inbox = [];
  draft.ended = { status, kind, ...(error && { error: { ...error, ...tracedOf(error) } }) };
  note(draft, "instance-ended", undefined, { status, terminationKind: kind });
  if (draft.before.parent && !draft.before.parent.detached) emit(draft, { kind: "notify-parent" });
  emit(draft, { kind: "expire-chunks" });
  for (const effect of effectsOfUnread(unread, status, draft.now)) emit(draft, effect);
  announce(draft, { type: "instance-ended", status, terminationKind: kind });
}

function announce(draft: Draft, notice: Notice): void {
  emit(draft, { kind: "announce", notice });
}

/** Puts an effect that needs no answer into the outbox; returns the id of its record. */
export function emit(draft: Draft, effect: TicketlessEffect): string {
  const id = mint(draft, "e");
  draft.outbox.push({ id, effect });
  return id;
}

/** An event that an incident keeps has not been read. */
function eventsKeptBy(ticket: Ticket): readonly QueuedEvent[] {
  const fact = ticket.on === "incident" ? ticket.kept?.fact : undefined;
  return fact?.kind === "event-sent" ? [fact.event] : [];
}

/** The version that will commit it is part of the id, so no two commits create the same one. */
function mint(draft: Draft, letter: string): string {
  draft.minted += 1;
  return `${letter}${draft.before.version + 1}.${draft.minted}`;
}

const LETTER = {
  task: "k",
  family: "f",
  timer: "t",
  signal: "w",
  message: "w",
  event: "w",
  child: "c",
  continuation: "w",
  incident: "i",
} as const;
