/**
 * One run of one definition version, as the kernel sees it.
 *
 * 1. What an instance waits for is its tickets, and nothing else: no ticket, no wake-up.
 * 2. A ticket's id is `<letter><version>.<n>` and is never used again.
 * 3. A terminal instance is final: nothing changes it any more.
 */
import type { Binding } from "../definition/graph.ts";
import type { Json, Variables } from "../definition/json.ts";
import type { Instant } from "../definition/time/instant.ts";
import type { Ended, InstanceError, TerminationKind, Traced } from "./ending.ts";
import type { Fact } from "./fact.ts";
import type { QueuedEvent } from "./queued-event.ts";
import type { JournalEntry, TrailEntry } from "./trail.ts";

export type Instance = Readonly<{
  id: string;
  tenant: string;
  /** Of the stored item; 0 before the first commit. The engine sets it. */
  version: number;
  definition: Readonly<{ id: string; version: number; hash: string }>;
  status: "live" | Ended;
  terminationKind?: TerminationKind;
  startedAt: Instant;
  /** When its present run began; absent in the first. What earlier runs left is not its own. */
  runAt?: Instant;
  /** Time as this instance last saw it; its own time never runs backwards. */
  lastNow: Instant;
  endedAt?: Instant;
  businessKey?: string;
  tags?: readonly string[];
  /** Of the lists of its definition, the shard that shows it; absent: the first. */
  shard?: number;
  /** The call that began it. */
  parent?: Parent;
  /** The runner's own: tokens and scopes of a graph, the journal of a program. */
  state: Json;
  tickets: readonly Ticket[];
  outbox: readonly OutboxRecord[];
  /** Tickets and records made since the last commit; keeps new ids apart. Not stored. */
  minted: number;
  /** Distinct ids of elements that have completed, in order of their first completion. */
  completed: readonly string[];
  /** The newest history, complete together with the stored chunks; `next` is the next number. */
  trail: Readonly<{ next: number; entries: readonly TrailEntry[] }>;
  /** The newest outcomes, for who replays a program; as the trail, and absent until there was one. */
  journal?: Readonly<{ next: number; entries: readonly JournalEntry[] }>;
  result?: Json;
  error?: InstanceError;
  /** Fingerprint of what the start asked for; with its instant and definition it is this start. */
  startHash: string;
  /** Door requests that this instance remembers, oldest first. */
  ring: readonly RecentRequest[];
  /** Events sent to this instance that nothing has waited for yet, oldest first. */
  inbox: readonly QueuedEvent[];
  /** Ids of the latest events that were sent to this instance, oldest first. */
  sentEvents: readonly string[];
  /** Which broadcast events, by name, this instance has taken; none is taken twice. */
  seenEvents: Readonly<Record<string, Seen>>;
  /** The engine's own: which values it has stored apart; absent until there was one. */
  apart?: readonly Externalized[];
  /** The engine's own: it has ended, and what it knew is gone; of an unfinished one not all yet. */
  erased?: true | "unfinished";
}>;

/** Who called an instance, and through which ticket. */
export type Parent = Readonly<{
  instanceId: string;
  ticket: string;
  /** How many calls wait above it, this one included; 0 for one that is detached. */
  depth: number;
  /** Errors that an element above catches; what else is thrown stays here. */
  catches?: Catches;
  /** Nobody waits for its end. */
  detached?: true;
}>;

/** Codes of errors. */
export type Catches = "all" | readonly string[];

/** A value that is stored on its own, by its content. */
export type Externalized = Readonly<{ hash: string; bytes: number }>;

/** Who owes an entry: the trigger that made it (`by`), the invocation that works on it, till when. */
export type Lease = Readonly<{ by: string; own: string | null; until: Instant }>;

/** An open obligation. `ref` is the runner's own handle: a token's number, a journal position. */
export type Ticket =
  | TaskTicket
  | BatchTicket
  | TimerTicket
  | SignalTicket
  | MessageTicket
  | EventTicket
  | ChildTicket
  | ContinuationTicket
  | IncidentTicket;

type Opened = Readonly<{
  id: string;
  ref: number;
  element: string;
  since: Instant;
  /** Absent until the engine has stamped it, always there once stored. */
  stamp?: Lease;
}>;

export type TaskTicket = Opened &
  Readonly<{
    on: "task";
    type: string;
    /** Counts from 1; a failure with retries left consumes the attempt and keeps the ticket. */
    attempt: number;
    /** Attempts left, this one included. */
    retries: number;
    /** Backing off: not to be run before. */
    notBefore?: Instant;
    /** The invocation that claimed an `exclusive` task before running it. */
    claim?: string;
    /** A person does it. */
    person?: Person;
    /** Of a member of a family, which is no ticket of its own: its number, from 0. */
    member?: number;
  }>;

/** Many like tasks, or many like calls; see `family.ts`. */
export type BatchTicket = TaskBatch | CallBatch;

type Batch = Opened &
  Readonly<{
    on: "family";
    size: number;
    /** The members that are no longer open, as `bits.ts` writes them. */
    taken: string;
  }>;

export type TaskBatch = Batch &
  Readonly<{
    type: string;
    /** Attempts that each member has. */
    retries: number;
    /** ISO duration between attempts, where the model says one. */
    backoff?: string;
  }>;

/** `call` is what its children have in common: what else each is given the runner knows. */
export type CallBatch = Batch & Readonly<{ call: Called }>;

/** Who has a task and who may have it; only what differs from the ordinary is there. */
export type Person = Readonly<{
  /** A worker may do it as well. */
  asJob?: true;
  assignee?: string;
  users?: readonly string[];
  groups?: readonly string[];
  dueAt?: Instant;
  followUpAt?: Instant;
  priority?: number;
  /** How often it has changed hands: whoever wants it says which of these turns they saw. */
  turn?: number;
}>;

export type TimerTicket = Opened &
  Readonly<{
    on: "timer";
    dueAt: Instant;
    /** Firings left, this one included, of a repeating timer; absent for one-shots. */
    cycle?: Readonly<{ text: string; left: number | "unbounded"; zone?: string }>;
    /** The instance's own deadline. */
    deadline?: true;
  }>;

/** Waits for a broadcast by name. */
export type SignalTicket = Opened &
  Readonly<{
    on: "signal";
    name: string;
    /** Stays open when a signal comes: which ones it has taken. Absent: the first closes it. */
    taken?: Seen;
    /** Broadcasts that this very path has thrown and that may still be on their way: not for it. */
    notIds?: readonly string[];
    row?: Row;
  }>;

/** Waits for a message of this name and correlation key. */
export type MessageTicket = Opened &
  Readonly<{
    on: "message";
    name: string;
    /** Empty: the mailbox of the name alone. */
    key: string;
    /** Stays open when a message comes. */
    stays?: true;
  }>;

/** Waits for an event of this name, sent to this instance or to everybody. */
export type EventTicket = Opened & Readonly<{ on: "event"; name: string; row?: Row }>;

/**
 * Waits for an instance that it begins: for its end, or, if it is detached, until it is there. What
 * the start needs is kept as it was when the call was made, whoever makes the start and when.
 */
export type ChildTicket = Opened &
  Called &
  Readonly<{
    on: "child";
    /** Of a member of a family, which is no ticket of its own: its number, from 0. */
    member?: number;
  }>;

/** Which process is called, and with what. */
export type Called = Readonly<{
  process: string;
  binding?: Binding;
  variables: Variables;
  catches?: Catches;
  detached?: true;
}>;

/**
 * How the outside finds a wait: what was broadcast after `after` is for it, and its row stands
 * among those of this epoch. The engine sets it in the commit that opens the ticket.
 */
export type Row = Readonly<{
  after: number;
  epoch: number;
  /** The version that gave a ticket its row anew, after an incident had held it. */
  again?: number;
}>;

/** A set of numbers that fills up from below: all up to `low`, and some runs above it. */
export type Seen = Readonly<{ low: number; above: readonly Run[] }>;

/** Numbers from the first to the last, both included. */
export type Run = readonly [first: number, last: number];

/** A step that grew too long goes on under this ticket; `round` counts how many in a row. */
export type ContinuationTicket = Opened & Readonly<{ on: "continuation"; round: number }>;

export type IncidentTicket = Opened &
  Traced &
  Readonly<{
    on: "incident";
    type: IncidentType;
    message: string;
    /** Which part of the element's life is to be tried again; the runner's own word. */
    phase?: string;
    /** Members of a family that wait for this incident; resolving it opens them again. */
    members?: Readonly<{ family: string; numbers: readonly number[] }>;
    /** What could not be decided: the ticket, and the fact unless there is no room for it. */
    kept?: Readonly<{ fact?: Fact; ticket?: Ticket }>;
  }>;

export type IncidentType =
  | "IO_MAPPING_ERROR"
  | "JOB_NO_RETRIES"
  | "CONDITION_ERROR"
  | "EXTRACT_VALUE_ERROR"
  | "CALLED_ELEMENT_ERROR"
  | "UNHANDLED_ERROR_EVENT"
  | "STATE_TOO_LARGE"
  | "TOO_MANY_OPEN_TICKETS"
  | "STEP_LIMIT"
  | "NON_DETERMINISM"
  /** A join waits for a flow that nothing can take any more. */
  | "DEADLOCK"
  /** The step died, or failed in a way that no incident could tell, again and again. */
  | "STEP_POISONED"
  | "UNKNOWN";

/** An effect without a ticket, kept until the invocation that sent it has dropped it. */
export type OutboxRecord = Readonly<{ id: string; effect: TicketlessEffect; stamp?: Lease }>;

/** Effects that nobody answers; receivers dedupe them by `<instance>:<record id>`. */
export type TicketlessEffect =
  | Readonly<{ kind: "announce"; notice: Notice }>
  | Readonly<{ kind: "publish-signal"; name: string; payload: Variables }>
  /** What an ended instance left unread is sent to everybody, or kept as a dead letter. */
  | Readonly<{ kind: "send-event"; event: QueuedEvent }>
  | Readonly<{ kind: "bury"; event: QueuedEvent; targetStatus: Ended }>
  /** The call was interrupted: what it had begun is cancelled, what it had not never begins. */
  | Readonly<{ kind: "cancel-child"; ticket: string }>
  /** The same for a family of calls: of its `size` members those that are not among `taken`. */
  | Readonly<{ kind: "cancel-children"; family: string; size: number; taken: string }>
  /** It has ended: the call that waits for it looks how. */
  | Readonly<{ kind: "notify-parent" }>
  | Readonly<{ kind: "expire-chunks" }>;

/** What outsiders may want to hear about an instance. */
export type Notice =
  | Readonly<{ type: "incident-raised"; incidentId: string; element: string; message: string }>
  | Readonly<{ type: "instance-ended"; status: Ended; terminationKind: TerminationKind }>;

export type RecentRequest = Readonly<{ request: string; body: string; answer: number; v: number }>;

export const isTerminal = (instance: Instance): boolean => instance.status !== "live";

/** The id under which a signal goes out that this record of the instance's outbox throws. */
export const broadcastIdOf = (instanceId: string, recordId: string): string =>
  `${instanceId}:${recordId}`;
