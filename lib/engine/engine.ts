/**
 * What the engine offers: the same calls for HTTP, for the library door and for tests, with the
 * bodies and answers that the API documents. What a caller did wrong is thrown as an EngineError
 * whose code says what; instants are ISO text, because every answer may leave as JSON. The bodies
 * and answers themselves stand by subject in shapes/.
 */
import type { Notation } from "../definition/definition.ts";
import type { Diagnostic } from "../definition/diagnostic.ts";
import type { Variables } from "../definition/json.ts";
import type { AnyParked, Invocation, Message, Verdict } from "../ports/message.ts";
import type { Key, Slice } from "../ports/store.ts";
import type {
  FoundIncident,
  IncidentFilter,
  PurgeReport,
  PurgeRequest,
  ResolveReport,
  ResolveRequest,
} from "./shapes/bulk.ts";
import type {
  DefinitionView,
  Deployment,
  ListingView,
  ScheduleView,
  Source,
} from "./shapes/definitions.ts";
import type {
  HistoryEntry,
  InstanceFilter,
  InstanceView,
  ResultView,
  StartRequest,
  VariablesPatch,
  WaitView,
} from "./shapes/instances.ts";
import type { IdempotencyKey, Listed, PageRequest } from "./shapes/paging.ts";
import type { Pace, RecoveryReport, SweepReport, WheelReport } from "./shapes/reports.ts";
import type {
  DeadLetterView,
  EventAnswer,
  EventConfig,
  EventRequest,
  EventTypeView,
  MessageAnswer,
  MessageRequest,
  ReceiptView,
  SignalAnswer,
  SignalRequest,
} from "./shapes/signals.ts";
import type {
  Activation,
  ActivationRequest,
  ClaimRequest,
  CompletionRequest,
  Heartbeat,
  HeartbeatRequest,
  TaskFailure,
  TaskFilter,
  TaskTypeView,
  TaskView,
} from "./shapes/tasks.ts";

/** The answer to a request that has nothing to tell but that it was done. */
type Done<What extends string> = Promise<Readonly<Record<What, true>>>;

export interface Engine {
  // What hosts call: hands over what woke them.

  /** One message; the verdict says whether it may go. */
  handle(message: Message, invocation: Invocation): Promise<Verdict>;
  /** Does what is due at a stored item, and says how much that was; a due index wakes so. */
  wake(key: Key, invocation: Invocation): Promise<number>;
  /** Messages parked for one instance, taken together in one step. */
  advance(messages: readonly AnyParked[], invocation: Invocation): Promise<readonly Verdict[]>;
  /** Sends again what was lost, and says what it did. */
  recover(): Promise<RecoveryReport>;
  /** The same for a page of all live instances, as if every queue and every timer had been lost. */
  recoverAll(page: PageRequest): Promise<RecoveryReport & Readonly<{ nextCursor?: string }>>;
  /** Looks at one slice of what is overdue and sends a message for each; goes on where it stopped. */
  sweep(slice: Slice, pace?: Pace): Promise<SweepReport>;
  /** Mass timers: queues what falls due in the next minutes; goes on where it stopped. */
  turnWheel(slice: Slice, pace?: Pace): Promise<WheelReport>;
  /** Sends the tasks that had no handler here when they were offered; says how many. */
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

  /** Over how many shards the instances of a definition are listed; the number only grows. */
  listing(id: string): Promise<ListingView>;
  setListing(id: string, request: Readonly<{ shards: number }>): Promise<ListingView>;

  /** What begins by itself: start events by timer of the definitions that are deployed. */
  schedules(page: PageRequest): Promise<Listed<ScheduleView>>;
  /** Stops one of them until its definition is enabled or deployed anew. */
  removeSchedule(id: string): Done<"removed">;

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
  ): Done<"resolved">;

  /** Sets variables of a live instance, or of one open element of it; nothing moves on by it. */
  patchVariables(
    instanceId: string,
    request: VariablesPatch,
    key?: IdempotencyKey,
  ): Done<"patched">;

  // Many at once: a page of them, and only told which unless `dryRun` is false

  /** Open incidents, those of the newest instances first. */
  incidents(filter: IncidentFilter, page: PageRequest): Promise<Listed<FoundIncident>>;
  /** Resolves a page of incidents, each by its own ticket. */
  resolveIncidents(request: ResolveRequest): Promise<ResolveReport>;
  /** Erases a page of ended instances. */
  purge(request: PurgeRequest): Promise<PurgeReport>;

  // Signals, messages, events

  /** Wakes every wait for the signal that is open now, and starts what begins by it. */
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
  /** Broadcasts a dead letter anew; it stays where no wait takes it. */
  replayDeadLetter(id: string): Promise<EventAnswer>;
  removeDeadLetter(id: string): Done<"removed">;

  // Tasks

  tasks(filter: TaskFilter, page: PageRequest): Promise<Listed<TaskView>>;
  /** One open task, with the text of its form where the definition has it. */
  task(taskId: string): Promise<TaskView>;
  /** Gives a task to a person; throws `task/claimed` where another has it. */
  claimTask(taskId: string, request: ClaimRequest, key?: IdempotencyKey): Done<"claimed">;
  /** Gives it back; throws `task/claimed` where another has it. */
  unclaimTask(
    taskId: string,
    request: Readonly<{ user: string }>,
    key?: IdempotencyKey,
  ): Done<"unclaimed">;
  completeTask(
    taskId: string,
    request?: CompletionRequest,
    key?: IdempotencyKey,
  ): Done<"completed">;
  failTask(taskId: string, request: TaskFailure, key?: IdempotencyKey): Done<"failed">;
  /** Gives open tasks of a type to a worker, each under a lock. */
  activate(request: ActivationRequest): Promise<Activation>;
  /** Keeps a lock; throws `task/lock-lost` where another worker has taken the task. */
  heartbeat(taskId: string, request: HeartbeatRequest): Promise<Heartbeat>;
  /** Sends the tasks of a type to a queue of the user's own; null: back to those who poll. */
  setTaskType(type: string, request: Readonly<{ queueArn: string | null }>): Promise<TaskTypeView>;
  taskType(type: string): Promise<TaskTypeView>;
}
