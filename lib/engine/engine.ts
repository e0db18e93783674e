/**
 * What the engine offers: the same calls for HTTP, for the library door and for tests, with the
 * bodies and answers that the API documents. What a caller did wrong is thrown as an EngineError
 * whose code says what; instants are ISO text, because every answer may leave as JSON.
 */
import type { Notation } from "../definition/definition.ts";
import type { Diagnostic } from "../definition/diagnostic.ts";
import type { Json, Variables } from "../definition/json.ts";
import type { Form } from "../definition/user-task.ts";
import type { Ended, TerminationKind } from "../kernel/ending.ts";
import type { OnTargetTerminated } from "../kernel/queued-event.ts";
import type { ErrorCode } from "../ports/engine-error.ts";
import type {
  Invocation,
  LookMessage,
  Message,
  OwedMessage,
  ParkedMessage,
  Verdict,
} from "../ports/message.ts";
import type { Key, Slice } from "../ports/store.ts";

export interface Engine {
  // What hosts call: hands over what woke them.

  /** One message; the verdict says whether it may go. */
  handle(message: Message, invocation: Invocation): Promise<Verdict>;
  /** Does what is due at a stored item, and says how much that was; a due index wakes so. */
  wake(key: Key, invocation: Invocation): Promise<number>;
  /** Messages parked for one instance, taken together in one step. */
  advance(
    messages: readonly (ParkedMessage | OwedMessage | LookMessage)[],
    invocation: Invocation,
  ): Promise<readonly Verdict[]>;
  /** Sends again what was lost, and says what it did. */
  recover(): Promise<RecoveryReport>;
  /** The same for a page of all live instances, as if every queue and every timer had been lost. */
  recoverAll(page: PageRequest): Promise<RecoveryReport & Readonly<{ nextCursor?: string }>>;
  /** Looks at one slice of what is overdue and sends a message for each; goes on where it stopped. */
  sweep(slice: Slice, pace?: Pace): Promise<SweepReport>;
  /** Mass timers: queues what falls due in the next minutes; goes on where it stopped. */
  turnWheel(slice: Slice, pace?: Pace): Promise<WheelReport>;
  /** Sends the tasks that nobody here could run when they were offered; says how many. */
  adopt(pace?: Pace): Promise<number>;
  /** A message that came too often without being done with: its task fails, or what it owes is sent. */
  giveUp(message: Message, invocation: Invocation): Promise<Verdict>;

  // Definitions

  deploy(source: Source): Promise<Deployment>;
  validate(
    source: Source,
  ): Promise<Readonly<{ valid: boolean; diagnostics: readonly Diagnostic[] }>>;
  definitions(page: PageRequest): Promise<Listed<DefinitionView>>;
  definition(id: string, version?: number): Promise<DefinitionView>;
  versions(id: string, page: PageRequest): Promise<Listed<DefinitionView>>;
  source(id: string, version: number): Promise<Readonly<{ notation: Notation; text: string }>>;
  enable(id: string): Promise<DefinitionView>;
  disable(id: string): Promise<DefinitionView>;
  undeploy(id: string): Promise<Readonly<{ undeployed: boolean }>>;

  /** What begins by itself: start events by timer of the definitions that are deployed. */
  schedules(page: PageRequest): Promise<Listed<ScheduleView>>;
  /** Stops one of them until its definition is enabled or deployed anew. */
  removeSchedule(id: string): Promise<Readonly<{ removed: true }>>;

  // Instances

  start(definitionId: string, request?: StartRequest, key?: IdempotencyKey): Promise<InstanceView>;
  get(instanceId: string): Promise<InstanceView>;
  list(filter: InstanceFilter, page: PageRequest): Promise<Listed<InstanceView>>;
  /** Throws `instance/not-ended` while it is live. */
  result(instanceId: string): Promise<ResultView>;
  waits(instanceId: string): Promise<Readonly<{ items: readonly WaitView[] }>>;
  history(instanceId: string, page: PageRequest): Promise<Listed<HistoryEntry>>;
  cancel(
    instanceId: string,
    request?: Readonly<{ reason?: string }>,
    key?: IdempotencyKey,
  ): Promise<Readonly<{ cancelled: boolean }>>;
  /** Removes what an ended instance knew; throws `instance/not-ended` while it is live. */
  erase(instanceId: string): Promise<void>;
  resolveIncident(
    instanceId: string,
    incidentId: string,
    request?: Readonly<{ variables?: Variables; retries?: number }>,
    key?: IdempotencyKey,
  ): Promise<Readonly<{ resolved: true }>>;

  /** Sets variables of a live instance, or of one open element of it; nothing moves on by it. */
  patchVariables(
    instanceId: string,
    request: VariablesPatch,
    key?: IdempotencyKey,
  ): Promise<Readonly<{ patched: true }>>;

  // Many at once: a page of them, and only told which unless `dryRun` is false

  /** Open incidents, those of the newest instances first. */
  incidents(filter: IncidentFilter, page: PageRequest): Promise<Listed<FoundIncident>>;
  /** Resolves a page of incidents, each by its own ticket. */
  resolveIncidents(request: ResolveRequest): Promise<ResolveReport>;
  /** Erases a page of ended instances. */
  purge(request: PurgeRequest): Promise<PurgeReport>;

  // Signals, messages, events

  /** Wakes everybody who waits for the signal now, and starts what begins by it. */
  signal(request: SignalRequest, key?: IdempotencyKey): Promise<SignalAnswer>;
  /** What became of a broadcast; throws `broadcast/not-found` where there is none. */
  receipt(broadcastId: string): Promise<ReceiptView>;
  message(request: MessageRequest, key?: IdempotencyKey): Promise<MessageAnswer>;
  event(request: EventRequest, key?: IdempotencyKey): Promise<EventAnswer>;
  /** Declares how events of this name behave, from the next one on. */
  setEventType(name: string, config: EventConfig): Promise<EventTypeView>;
  /** How events of this name behave, declared or not. */
  eventType(name: string): Promise<EventTypeView>;
  deadLetters(
    filter: Readonly<{ name?: string }>,
    page: PageRequest,
  ): Promise<Listed<DeadLetterView>>;
  /** Broadcasts a dead letter anew; it stays where nobody takes it. */
  replayDeadLetter(id: string): Promise<EventAnswer>;
  removeDeadLetter(id: string): Promise<Readonly<{ removed: true }>>;

  // Tasks

  tasks(filter: TaskFilter, page: PageRequest): Promise<Listed<TaskView>>;
  /** One open task, with the text of its form where the definition has it. */
  task(taskId: string): Promise<TaskView>;
  /** Gives a task to a person; throws `task/claimed` where another has it. */
  claimTask(
    taskId: string,
    request: ClaimRequest,
    key?: IdempotencyKey,
  ): Promise<Readonly<{ claimed: true }>>;
  /** Gives it back; throws `task/claimed` where another has it. */
  unclaimTask(
    taskId: string,
    request: Readonly<{ user: string }>,
    key?: IdempotencyKey,
  ): Promise<Readonly<{ unclaimed: true }>>;
  completeTask(
    taskId: string,
    request?: Readonly<{ variables?: Variables; user?: string; lockToken?: string }>,
    key?: IdempotencyKey,
  ): Promise<Readonly<{ completed: true }>>;
  failTask(
    taskId: string,
    request: TaskFailure,
    key?: IdempotencyKey,
  ): Promise<Readonly<{ failed: true }>>;
  /** Gives open tasks of a type to a worker, each under a lock. */
  activate(request: ActivationRequest): Promise<Activation>;
  /** Keeps a lock; throws `task/lock-lost` where another worker has taken the task. */
  heartbeat(taskId: string, request: HeartbeatRequest): Promise<Heartbeat>;
  /** Sends the tasks of a type to a queue of the user's own; null: back to those who poll. */
  setTaskType(type: string, request: Readonly<{ queueArn: string | null }>): Promise<TaskTypeView>;
  taskType(type: string): Promise<TaskTypeView>;
}

/** The same key and body give the same answer; another body under the same key is refused. */
export type IdempotencyKey = string;

/** `limit` is at most 200; `cursor` is the `nextCursor` of the page before. */
export type PageRequest = Readonly<{ limit: number; cursor?: string }>;
export type Listed<T> = Readonly<{ items: readonly T[]; nextCursor?: string }>;

export type Source = Readonly<{ notation: Notation; source: string }>;

/** `created: false`: the source is identical to the latest, nothing was stored. */
export type Deployment = Readonly<{ created: boolean; definitions: readonly DeployedView[] }>;

export type DeployedView = Readonly<{
  id: string;
  version: number;
  hash: string;
  notation: Notation;
  name?: string;
  startEvents: readonly StartEventView[];
  warnings: readonly Diagnostic[];
}>;

export type StartEventView = Readonly<{
  element: string;
  kind: string;
  name?: string;
  timer?: Readonly<{ as: "duration" | "date" | "cycle"; text: string; zone?: string }>;
  /** Of a timer that is armed: when its next instance begins. */
  nextDue?: string;
}>;

export type ScheduleView = Readonly<{
  id: string;
  definition: Readonly<{ id: string; version: number }>;
  element: string;
  kind: "duration" | "date" | "cycle" | "cron";
  /** As the definition has it. */
  text: string;
  zone: string;
  /** Absent when it is not enabled, or nothing is left. */
  nextDue?: string;
  /** Absent where it never ends. */
  remaining?: number;
  enabled: boolean;
  /** Instances begun since it was deployed or enabled last. */
  fired: number;
}>;

export type DefinitionView = Readonly<{
  id: string;
  version: number;
  hash: string;
  notation: Notation;
  name?: string;
  startEvents: readonly StartEventView[];
  enabled: boolean;
  deployedAt: string;
  /** Live instances of all versions of this id, counted up to 1,000. */
  live: Readonly<{ count: number; more: boolean }>;
}>;

export type StartRequest = Readonly<{
  variables?: Variables;
  instanceId?: string;
  businessKey?: string;
  version?: number;
  tags?: readonly string[];
  /** A duration from now, or an instant. */
  deadline?: string;
}>;

export type Status = "running" | "suspended" | Ended;

export type InstanceView = Readonly<{
  instanceId: string;
  definition: Readonly<{ id: string; version: number }>;
  status: Status;
  terminationKind?: TerminationKind;
  businessKey?: string;
  tags?: readonly string[];
  /** The instance that called it, and whether that waits for its end. */
  parent?: Readonly<{ instanceId: string; awaited: boolean }>;
  variables: Variables;
  activeElements: readonly string[];
  completedElements: readonly string[];
  waits: readonly WaitView[];
  incidents: readonly IncidentView[];
  startedAt: string;
  updatedAt: string;
  endedAt?: string;
  result?: Json;
  error?: Readonly<{ code?: string; message: string; element?: string }>;
}>;

export type IncidentView = Readonly<{
  incidentId: string;
  type: string;
  element: string;
  message: string;
  raisedAt: string;
}>;

/** Why an instance does not move, and the exact call that would move it, where there is one. */
export type WaitView = Readonly<{
  kind: "task" | "timer" | "signal" | "message" | "event" | "child" | "continuation" | "incident";
  element: string;
  since: string;
  dueAt?: string;
  /** Of a signal, a message or an event. */
  name?: string;
  /** Of a message; empty where it has none. */
  correlationKey?: string;
  /** Of a child: the process that was called, and the instance that runs it, once it is there. */
  process?: string;
  childInstanceId?: string;
  taskType?: string;
  taskId?: string;
  /** Of a family: how many tasks it began with, and how many of them are open. */
  members?: Readonly<{ size: number; open: number }>;
  /** The engine runs this task itself. */
  runsHere?: boolean;
  incidentId?: string;
  /** The call that gives a task to a person, as long as nobody has it. */
  claimWith?: Readonly<{ method: string; path: string; body?: Json }>;
  wakeWith?: Readonly<{ method: string; path: string; body?: Json }>;
}> &
  Partial<PersonView>;

export type ResultView = Readonly<{
  status: Ended;
  terminationKind: TerminationKind;
  result?: Json;
  variables: Variables;
  error?: Readonly<{ code?: string; message: string; element?: string }>;
}>;

export type HistoryEntry = Readonly<{
  seq: number;
  at: string;
  type: string;
  element?: string;
  data?: Json;
}>;

export type InstanceFilter = Readonly<{
  definition?: string;
  status?: Status;
  businessKey?: string;
  /** One of their tags. */
  tag?: string;
  incident?: true;
  startedAfter?: string;
  startedBefore?: string;
}>;

export type TaskFilter = Readonly<{
  type?: string;
  instanceId?: string;
  // The others find tasks that people do.
  assignee?: string;
  candidateUser?: string;
  candidateGroup?: string;
  state?: PersonState;
  /** Its due date has passed. */
  overdue?: true;
}>;

/** Nobody has it yet, or somebody does. */
export type PersonState = "created" | "claimed";

/** Without a scope, variables of the process; else of the one open occurrence of that element. */
export type VariablesPatch = Readonly<{ variables: Variables; scope?: string }>;

export type IncidentFilter = Readonly<{
  definition?: string;
  type?: string;
  element?: string;
  businessKey?: string;
  tag?: string;
  /** Of the instance. */
  startedAfter?: string;
  startedBefore?: string;
}>;

/** An incident, and whose it is. */
export type FoundIncident = IncidentView &
  Readonly<{
    instanceId: string;
    definition: Readonly<{ id: string; version: number }>;
    businessKey?: string;
  }>;

/** Which of them, what to do, and where the page before has stopped. */
type Bulk<Filter> = Partial<PageRequest> &
  Readonly<{
    filter?: Filter;
    /** True unless said: only tells what would be done. */
    dryRun?: boolean;
  }>;

/** How one of many fared: `gone` is what somebody else was quicker with. */
export type Fared<Done extends string> = Readonly<{
  outcome: "matched" | Done | "gone" | "refused";
  problem?: Readonly<{ code: string; message: string }>;
}>;

/** What was done; in a dry run nothing but `matched` counts, else it is the sum of the others. */
type BulkReport = Readonly<{
  dryRun: boolean;
  matched: number;
  gone: number;
  refused: number;
  nextCursor?: string;
}>;

export type ResolveRequest = Bulk<IncidentFilter> &
  Readonly<{ variables?: Variables; retries?: number }>;
export type ResolveReport = BulkReport &
  Readonly<{ resolved: number; items: readonly (FoundIncident & Fared<"resolved">)[] }>;

export type PurgeFilter = Readonly<{
  definition?: string;
  status?: Ended;
  businessKey?: string;
  tag?: string;
  endedBefore?: string;
}>;
export type PurgeRequest = Bulk<PurgeFilter>;
export type PurgeReport = BulkReport &
  Readonly<{ purged: number; items: readonly (EndedInstance & Fared<"purged">)[] }>;

export type EndedInstance = Readonly<{
  instanceId: string;
  definition: Readonly<{ id: string; version: number }>;
  status: Ended;
  endedAt: string;
}>;

export type TaskView = Readonly<{
  taskId: string;
  type: string;
  instanceId: string;
  element: string;
  definition: Readonly<{ id: string; version: number }>;
  variables: Variables;
  headers: Readonly<Record<string, string>>;
  attempt: number;
  retries: number;
  idempotencyKey: string;
  createdAt: string;
  /** The engine runs this task itself. */
  runsHere: boolean;
  /** Of a task that a person does: variables that must come with the completion. */
  requiredOutputs?: readonly string[];
  /** As the definition says it; `body` is there when one task is asked for. */
  form?: Form & Readonly<{ body?: Json }>;
}> &
  Partial<PersonView>;

/** Who has a task that a person does, who may have it, and until when. */
export type PersonView = Readonly<{
  state: PersonState;
  assignee?: string;
  candidateUsers: readonly string[];
  candidateGroups: readonly string[];
  dueDate?: string;
  followUpDate?: string;
  /** From 0 to 100. */
  priority: number;
}>;

/** `groups`: those that the user is known to be in; left out, the caller answers for that. */
export type ClaimRequest = Readonly<{ user: string; groups?: readonly string[] }>;

/** `waitSeconds`: how long the poll may wait for a first task. */
export type ActivationRequest = Readonly<{
  type: string;
  max: number;
  lockSeconds: number;
  /** Who asks, for those who look. */
  worker: string;
  waitSeconds?: number;
}>;

/** With `retryAfter` there was nothing, and asking before that many seconds is for nothing. */
export type Activation = Readonly<{ tasks: readonly ActivatedTask[]; retryAfter?: number }>;

export type ActivatedTask = Omit<TaskView, "createdAt" | "runsHere"> &
  Readonly<{
    /** Names the lock: heartbeats give a new one, and whoever reports sends the last. */
    lockToken: string;
    lockedUntil: string;
  }>;

export type HeartbeatRequest = Readonly<{ lockToken: string; lockSeconds?: number }>;

/** `cancelled`: nobody needs the result any more. */
export type Heartbeat = Readonly<{ lockToken: string; lockedUntil: string } | { cancelled: true }>;

export type TaskTypeView = Readonly<{ type: string; queueArn: string | null; shards: number }>;

export type TaskFailure = Readonly<{
  /** Of the worker's last activation or heartbeat. */
  lockToken?: string;
  message: string;
  /** A business error that boundary events can catch; without it a retry is used up. */
  code?: string;
  retries?: number;
  /** A duration. */
  retryAfter?: string;
  variables?: Variables;
}>;

/** With an `id` it can be repeated: the same id is the same broadcast. */
export type SignalRequest = Readonly<{ name: string; payload?: Variables; id?: string }>;

/** The counts are there when everybody was reached within the call. */
export type SignalAnswer = Readonly<{
  broadcastId: string;
  deliveredCount?: number;
  startedCount?: number;
}>;

/** `matched` is the sum of `delivered`, `started`, `skipped`, `expired` and those that failed. */
export type ReceiptView = Readonly<{
  broadcastId: string;
  kind: "signal" | "event";
  name: string;
  acceptedAt: string;
  /** Everybody who waited when it was accepted has been dealt with. */
  complete: boolean;
  matched: number;
  delivered: number;
  /** Waits that ended otherwise before it reached them. */
  skipped: number;
  started: number;
  expired: number;
  failed: readonly FailedDelivery[];
}>;

/** It was taken, and led to an incident at once; without an id the instance could not be read. */
export type FailedDelivery = Readonly<{ instanceId: string; incidentId?: string; message: string }>;

export type MessageRequest = Readonly<{
  name: string;
  correlationKey?: string;
  payload?: Variables;
  /** The same id in the same mailbox is the same message. */
  messageId?: string;
  /** A duration, PT1H unless said; PT0S: only for who waits now. */
  timeToLive?: string;
}>;

export type MessageAnswer = Readonly<{
  messageId: string;
  outcome: "delivered" | "started" | "buffered" | "duplicate";
  /** Who got it; the first of them, where several process ids did. */
  instanceId?: string;
}>;

export type EventRequest = Readonly<{
  name: string;
  payload?: Json;
  /** An instance; without one it is broadcast. */
  target?: string;
  id?: string;
}>;

/** Without an outcome it is still on its way: its receipt tells. */
export type EventAnswer = Readonly<{
  id: string;
  outcome?: "delivered" | "queued" | "dropped";
  deliveredCount?: number;
}>;

export type EventConfig = Readonly<{
  consumeOnRead: boolean;
  deliveryMode: "AfterWait" | "AfterCreate" | "All";
  /** A duration. */
  expireAfter: string;
  onTargetTerminated: OnTargetTerminated;
}>;

export type EventTypeView = EventConfig & Readonly<{ name: string; declared: boolean }>;

export type DeadLetterView = Readonly<{
  id: string;
  name: string;
  payload: Json;
  at: string;
  reason: string;
  target: string;
  targetStatus: Ended;
}>;

export type RecoveryReport = Readonly<{
  /** Instances that owed something and were set going again. */
  resumed: number;
  /** Timers that are ahead and were armed again. */
  rearmed: number;
  /** Timers that were overdue and were set to fire at once. */
  timersFired: number;
  /** Messages sent again. */
  resent: number;
  /** Mailboxes in which somebody waited while something was there. */
  mailboxesPoked: number;
  /** Broadcasts that had not reached everybody. */
  broadcastsResumed: number;
  /** Events for one taker that had not been offered to all who wait. */
  eventsOffered: number;
  /** Instances looked at for which no message was sent and no timer set: they needed neither. */
  skipped: number;
  /** Items that this engine cannot read: too new, too old, or damaged. They are left as they are. */
  unreadable: number;
  /** Items that could not wholly be seen to, as when a queue refused: recover again. */
  failed: number;
  /** Which items those two count, and why; of many, the first. */
  troubles: readonly RecoveryTrouble[];
}>;

export type RecoveryTrouble = Readonly<{
  /** Where it is stored. */
  key: Key;
  /** Whose state it is, where it is an instance's. */
  instanceId?: string;
  code: ErrorCode;
  message: string;
}>;

/** How long a turn may go on: it is asked after each page, and stops where there is no more time. */
export type Pace = Readonly<{ hasTime?: () => boolean }>;

export type SweepReport = Readonly<{
  /** Items that were overdue by the index. */
  looked: number;
  /** Messages sent again: in a healthy installation hardly any. */
  sent: number;
  /** Items that could not be read, or for which nothing could be sent; each was told of. */
  troubles: number;
  /** There was more than one turn may look at, or had the time for: the next one goes on there. */
  more: boolean;
}>;

export type WheelReport = Readonly<{
  looked: number;
  /** Timers handed to the queue. */
  queued: number;
  troubles: number;
  more: boolean;
}>;
