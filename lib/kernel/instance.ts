/**
 * One run of one definition version, as the kernel sees it.
 *
 * 1. What an instance waits for is its tickets, and nothing else: no ticket, no wake-up.
 * 2. A ticket's id is `<letter><version>.<n>` and is never used again.
 * 3. A terminal instance is final: nothing changes it any more.
 */
import type { Binding } from "../definition/graph.ts";
import type { Json, Variables } from "../definition/json.ts";
import type { RetryTable, Site } from "../definition/sandbox.ts";
import type { Instant } from "../definition/time/instant.ts";
import type { Ended, InstanceError, TerminationKind, Traced } from "./ending.ts";
import type { Fact } from "./fact.ts";
import type { QueuedEvent } from "./queued-event.ts";
import type { JournalEntry, TrailEntry } from "./trail.ts";

export type Instance = Readonly<{
  id: string;
  tenant: string;
  /** The version of the stored item; 0 before the first commit. The engine sets it. */
  version: number;
  definition: Readonly<{ id: string; version: number; hash: string }>;
  status: "live" | Ended;
  terminationKind?: TerminationKind;
  startedAt: Instant;
  /** When its current run began; absent in the first. Remains of earlier runs are not its own. */
  runAt?: Instant;
  /** The latest time this instance has seen; its own time never goes backwards. */
  lastNow: Instant;
  endedAt?: Instant;
  businessKey?: string;
  tags?: readonly string[];
  /** Its shard in the lists of its definition; absent: the first. */
  shard?: number;
  /** The call that started it. */
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
  /** The newest outcomes, for replays of a program; stored like the trail, absent until there is one. */
  journal?: Readonly<{ next: number; entries: readonly JournalEntry[] }>;
  result?: Json;
  error?: InstanceError;
  /** Fingerprint of the start request; with its instant and definition it identifies this start. */
  startHash: string;
  /** Recent requests that this instance remembers, oldest first. */
  ring: readonly RecentRequest[];
  /** Events sent to this instance that no wait has read yet, oldest first. */
  inbox: readonly QueuedEvent[];
  /** Ids of the latest events that were sent to this instance, oldest first. */
  sentEvents: readonly string[];
  /** Which broadcast events, by name, this instance has taken; none is taken twice. */
  seenEvents: Readonly<Record<string, Seen>>;
  /** Set by the engine: its externalized values; absent until there is one. */
  apart?: readonly Externalized[];
  /** Set by the engine: it has ended and its data is erased, or erasing it is unfinished. */
  erased?: true | "unfinished";
}>;

/** The calling instance, and the ticket of the call. */
export type Parent = Readonly<{
  instanceId: string;
  ticket: string;
  /** How many calls wait above it, this one included; 0 if it is detached. */
  depth: number;
  /** Errors that an element above catches; all others stay in this instance. */
  catches?: Catches;
  /** The caller does not wait for its end. */
  detached?: true;
}>;

/** Codes of errors. */
export type Catches = "all" | readonly string[];

/** A value stored outside the instance, under the hash of its content. */
export type Externalized = Readonly<{ hash: string; bytes: number }>;

/**
 * The lease on an entry: the trigger that made it (`by`), the owning invocation (`own`), its expiry
 * (`until`).
 */
export type Lease = Readonly<{ trigger: string; owner: string | null; expiresAt: Instant }>;

/** An open obligation. `ref` is the runner's handle: a token's number, a journal position. */
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
  /** Absent until the engine sets it, always there once stored. */
  lease?: Lease;
}>;

export type TaskTicket = Opened &
  Readonly<{
    on: "task";
    type: string;
    /** Counts from 1; a failure with retries left consumes the attempt and keeps the ticket. */
    attempt: number;
    /** Attempts left, this one included. */
    retries: number;
    /** Backoff: not run before this instant. */
    notBefore?: Instant;
    /** The invocation that claimed an `exclusive` task before running it. */
    claim?: string;
    /** Of a user task. */
    person?: Assignment;
    /** Of an item of a batch, which is not a stored ticket: its number, from 0. */
    member?: number;
  }>;

/** Many tasks, or many calls, of one multi-instance activity; see `batch.ts`. */
export type BatchTicket = TaskBatch | CallBatch;

type Batch = Opened &
  Readonly<{
    on: "family";
    size: number;
    /** The items that are no longer open, as `bits.ts` writes them. */
    taken: string;
  }>;

export type TaskBatch = Batch &
  Readonly<{
    type: string;
    /** Attempts of each item. */
    retries: number;
    /** ISO duration between attempts, where the model says one. */
    backoff?: string;
    /** Of a workflow in code: when its items are tried again. */
    table?: RetryTable;
  }>;

/** `call` is what all items share; the runner computes the input of each. */
export type CallBatch = Batch & Readonly<{ call: Called }>;

/** Assignee, candidates and dates of a user task; defaults are left out. */
export type Assignment = Readonly<{
  /** A worker may complete it as well. */
  asJob?: true;
  assignee?: string;
  users?: readonly string[];
  groups?: readonly string[];
  dueAt?: Instant;
  followUpAt?: Instant;
  priority?: number;
  /** How often it was assigned: a claim names the turn that it saw. */
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
    /** Of a wait that stays open: the signals it has taken. Absent: the first signal closes it. */
    taken?: Seen;
    /** Broadcasts thrown on this very path, which may still be in flight: the wait ignores them. */
    notIds?: readonly string[];
    row?: Row;
  }>;

/** Waits for a message of this name and correlation key. */
export type MessageTicket = Opened &
  Readonly<{
    on: "message";
    name: string;
    /** Empty: a message without a correlation key. */
    key: string;
    /** Stays open when a message arrives. */
    stays?: true;
  }>;

/** Waits for an event of this name, sent to this instance or broadcast. */
export type EventTicket = Opened &
  Readonly<{
    on: "event";
    name: string;
    /** Takes only events that are sent to this instance, so the outside need not find it. */
    inbox?: true;
    row?: Row;
  }>;

/**
 * Waits for an instance that it starts: for its end, or, if it is detached, until it exists. The
 * input of the start is kept as it was when the call was made, however late the start happens.
 */
export type ChildTicket = Opened &
  Called &
  Readonly<{
    on: "child";
    /** Of an item of a batch, which is not a stored ticket: its number, from 0. */
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
 * How the outside finds a wait: it takes broadcasts after number `after`, and its row is among
 * those of this epoch. The engine sets it in the commit that opens the ticket.
 */
export type Row = Readonly<{
  after: number;
  epoch: number;
  /** The version that gave the ticket a new row after an incident was resolved. */
  again?: number;
}>;

/** A set of numbers that fills up from below: all up to `low`, and some ranges above it. */
export type Seen = Readonly<{ low: number; above: readonly Run[] }>;

/** Numbers from the first to the last, both included. */
export type Run = readonly [first: number, last: number];

/** A step that grew too long continues under this ticket; `round` counts how many in a row. */
export type ContinuationTicket = Opened & Readonly<{ on: "continuation"; round: number }>;

export type IncidentTicket = Opened &
  Traced &
  Readonly<{
    on: "incident";
    type: IncidentType;
    message: string;
    /** Of a workflow in code: the operation that it is about, as a place in the bundle. */
    site?: Site;
    /** Which phase of the element is retried; named by the runner. */
    phase?: string;
    /** Items of a batch that wait for this incident; resolving it reopens them. */
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
  /** The step crashed its process, or failed in a way that no incident could record, repeatedly. */
  | "STEP_POISONED"
  | "UNKNOWN";

/** An effect without a ticket, kept until the invocation that sent it has dropped it. */
export type OutboxRecord = Readonly<{ id: string; effect: TicketlessEffect; lease?: Lease }>;

/** Effects that need no answer; receivers deduplicate them by `<instance>:<record id>`. */
export type TicketlessEffect =
  | Readonly<{ kind: "announce"; notice: Notice }>
  | Readonly<{ kind: "publish-signal"; name: string; payload: Variables }>
  /** An event that an ended instance left unread is broadcast, or kept as a dead letter. */
  | Readonly<{ kind: "send-event"; event: QueuedEvent }>
  | Readonly<{ kind: "bury"; event: QueuedEvent; targetStatus: Ended }>
  /** The call was interrupted: the called process is cancelled, or never starts. */
  | Readonly<{ kind: "cancel-child"; ticket: string }>
  /** The same for a batch of calls: those of its `size` items that are not in `taken`. */
  | Readonly<{ kind: "cancel-children"; family: string; size: number; taken: string }>
  /** The instance has ended: the waiting call takes its outcome. */
  | Readonly<{ kind: "notify-parent" }>
  | Readonly<{ kind: "expire-chunks" }>;

/** What is announced about an instance. */
export type Notice =
  | Readonly<{ type: "incident-raised"; incidentId: string; element: string; message: string }>
  | Readonly<{ type: "instance-ended"; status: Ended; terminationKind: TerminationKind }>;

export type RecentRequest = Readonly<{ request: string; body: string; answer: number; v: number }>;

export const isTerminal = (instance: Instance): boolean => instance.status !== "live";

/** The broadcast id of a signal that this record of the instance's outbox throws. */
export const broadcastIdOf = (instanceId: string, recordId: string): string =>
  `${instanceId}:${recordId}`;
