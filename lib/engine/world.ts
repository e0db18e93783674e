import type { Definition, Notation } from "../definition/definition.ts";
import type { Compiler } from "../definition/diagnostic.ts";
import type { Expressions } from "../definition/expression.ts";
import { BILLED_BYTES, MAX_WHOLE_BYTES } from "../definition/limits.ts";
import type { Origins, Sandbox } from "../definition/sandbox.ts";
import type { Fact } from "../kernel/fact.ts";
import type {
  BatchTicket,
  ChildTicket,
  EventTicket,
  Instance,
  SignalTicket,
  TicketlessEffect,
} from "../kernel/instance.ts";
import type { Runner } from "../kernel/runner.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { Invocation, Message, Verdict } from "../ports/message.ts";
import type { OfferWatch } from "../ports/offer-watch.ts";
import type { OwnQueues } from "../ports/own-queues.ts";
import type { Parking } from "../ports/parking.ts";
import type { StepWatch } from "../ports/step-watch.ts";
import type { Store } from "../ports/store.ts";
import type { Tasks } from "../ports/tasks.ts";
import type { Timers } from "../ports/timers.ts";
import type { WorkQueue } from "../ports/work-queue.ts";

/** Everything that an engine is handed: it sees nothing else of the outside. */
export type World = Readonly<{
  store: Store;
  parking: Parking;
  tasks: Tasks;
  timers: Timers;
  clock: Clock;
  ids: Ids;
  bus: Bus;
  workQueue: WorkQueue;
  blobs: Blobs;
  /** Wakes polls that wait for tasks; absent: they are told when to ask again. */
  offers?: OfferWatch;
  /** Queues of the user's own for tasks; absent: there are none. */
  ownQueues?: OwnQueues;
  expressions: Expressions;
  compilers: Readonly<Partial<Record<Notation, Compiler>>>;
  runners: Runners;
  /** Where workflows in code run; absent: there are none. */
  sandbox?: Pick<Sandbox, "engine">;
  /** Reads the source map of a bundle; absent: places stay those of the bundle. */
  origins?: (bundle: string) => Origins;
  settings: Settings;
  /** Counts steps that take the process with them; absent: each runs in a process of its own. */
  watch?: StepWatch;
  /** Of a message that came too often: why nothing is decided any more, and incidents are raised. */
  aside?: string;
  /** What the engine brings itself; a host gives a `HostWorld`. */
  senders: Senders;
  handlers: Handlers;
  /** Hears of what could not be done and was left alone, and of runs that become too long. */
  onTrouble?: (about: string, error: unknown) => void;
  /** Hears of every commit after it is durable; must not throw and must not wait. */
  onCommitted?: (instance: Instance, before: Instance | undefined) => void;
  /** Hears of what no commit tells; must not throw and must not wait. */
  observe?: (observation: Observation) => void;
}>;

/** What a host hands to `createEngine`. */
export type HostWorld = Omit<World, "senders" | "handlers">;

/**
 * How entries leave that are more than one message: each of these is a use case, which may take steps
 * of other instances and send in its turn. A step that has committed reaches them through this table.
 */
export type Senders = Readonly<{
  /** Says whether it had to do anything. */
  startChild: (world: World, parent: Instance, ticket: ChildTicket) => Promise<boolean>;
  cancelChild: (world: World, parent: Instance, ticket: string) => Promise<void>;
  notifyParent: (world: World, child: Instance) => Promise<void>;
  sendBatch: (world: World, instance: Instance, family: BatchTicket, how: Sending) => Promise<void>;
  cancelBatch: (world: World, parent: Instance, order: Effect<"cancel-children">) => Promise<void>;
  /** What was broadcast while the wait was being committed. */
  sendMissed: (world: World, instance: Instance, wait: SignalTicket | EventTicket) => Promise<void>;
  /** An event that an ended instance has left unread. */
  sendLeft: (world: World, instance: Instance, order: Effect<"send-event">) => Promise<void>;
  bury: (world: World, instanceId: string, order: Effect<"bury">) => Promise<void>;
}>;

/** Prepare a definition; `source` reads the text that it was deployed from. */
export type Runners = Readonly<{
  graph?: (definition: Definition) => Runner;
  code?: (definition: Definition, source: () => Promise<string>) => Runner;
}>;

/** Whether an entry is sent for the first time, as far as its sender can know. */
export type Sending = "first" | "again";

export type Effect<Kind extends TicketlessEffect["kind"]> = Extract<
  TicketlessEffect,
  { kind: Kind }
>;

/** What becomes of a message, by its kind. */
export type Handlers = Readonly<{
  [Kind in Message["kind"]]: (
    world: World,
    message: MessageOf<Kind>,
    invocation: Invocation,
  ) => Promise<Verdict>;
}>;

export type MessageOf<Kind extends Message["kind"]> = Extract<Message, { kind: Kind }>;

export type Settings = Readonly<{
  tenant: string;
  /** How long an ended instance and its history are kept. */
  retentionMs: number;
  /** What the host can do. */
  host: HostTraits;
  /** The sweep sends again what is overdue by this much; a minute by default. */
  overdueMs?: number;
  /** Bytes above which an instance externalizes its large values; the host's by default. */
  wholeBytes?: number;
  /** Bytes above which an externalized value is a blob; by default, what an item takes. */
  blobBytes?: number;
  /** Items of a batch that one message sends; a hundred by default. */
  membersPerPage?: number;
  /** Time moves only when it is told to. */
  virtualClock?: boolean;
  /** One process owns the store: an owner of an earlier life is dead, whatever its lease says. */
  isDeadOwner?: (own: string) => boolean;
}>;

/** What the host of an engine can do; each trait says one thing, so that a rule can name its reason. */
export type HostTraits = Readonly<{
  /** Messages outlive the process. Where they do not, a restart finds in the store what is owed. */
  queuesSurvive: boolean;
  /** No other process uses the store: what this one remembers of it holds, and callers take turns. */
  ownsStore: boolean;
  /** A reader never sees a commit of several items half applied. */
  seesWholeCommits: boolean;
  /** Writes that are made together share one flush. */
  groupsCommits: boolean;
  /** Bytes that an instance may take before its large values are externalized. */
  wholeBytes: number;
}>;

/** The embedded engine: one process owns the store, and its queues are in memory. */
export const ONE_PROCESS: HostTraits = {
  queuesSurvive: false,
  ownsStore: true,
  seesWholeCommits: true,
  groupsCommits: true,
  wholeBytes: MAX_WHOLE_BYTES,
};

/** Functions on AWS: many processes share one table, which bills each write by its size. */
export const MANY_PROCESSES: HostTraits = {
  queuesSurvive: true,
  ownsStore: false,
  seesWholeCommits: false,
  groupsCommits: false,
  wholeBytes: BILLED_BYTES,
};

/**
 * What happens in an engine and stands in no commit: for those who watch over its health. Nothing
 * rests on it, and nothing that a workflow carries is in it.
 */
export type Observation = Readonly<
  /**
   * A message was let go that could do nothing any more: its ticket is gone, and nothing is owed by
   * its name. `task` is the message of an attempt that is over: no code was run for it.
   */
  | { kind: "stale"; instanceId: string; fact: Fact["kind"] | "task" }
  /** An owner died before everything was sent: what it owed has another owner now. */
  | { kind: "taken-over"; instanceId: string; name: string }
  /** A living owner works on what the message is for: it comes back when he must be done. */
  | { kind: "left-to-owner"; instanceId: string }
  /** A commit was seen half applied: its reader reads again. */
  | { kind: "fenced"; instanceId: string }
  /** The instance is crowded or contended: what was to be taken waits in its queue. */
  | { kind: "outcome-parked"; instanceId: string }
  /** No queue had brought it: the sweep sent it, this long after it was due. */
  | { kind: "swept"; lateMs: number }
  /** A start event by timer has begun an instance, this long after it was due. */
  | { kind: "timer-start-fired"; definitionId: string; element: string; lateMs: number }
  /** A page of a broadcast has reached those on it, this long after it was accepted. */
  | { kind: "page-delivered"; broadcastId: string; matched: number; ms: number }
  /** A message waits for its taker; with it so many do in its mailbox. */
  | { kind: "message-kept"; depth: number }
>;
