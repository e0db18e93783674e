import type { Queues } from "../adapters/local/queues.ts";
import type { LocalStore } from "../adapters/local/store.ts";
import type { Variables } from "../definition/json.ts";
import { parseDuration } from "../definition/time/duration.ts";
import { formatInstant } from "../definition/time/instant.ts";
import type {
  DeadLetterView,
  DefinitionView,
  Engine,
  EventConfig,
  EventTypeView,
  HistoryEntry,
  InstanceFilter,
  InstanceView,
  Listed,
  PageRequest,
  RecoveryReport,
  ResultView,
  SignalAnswer,
  Source,
  TaskFilter,
  TaskView,
} from "../engine/engine.ts";
import { UNDECLARED } from "../engine/events/event-type.ts";
import { EngineError } from "../ports/engine-error.ts";
import type { EndWatch } from "./end-watch.ts";
import type { FiredTimers } from "./fired-timers.ts";

/** The engine as a library: a method for every call of the API, with its bodies and answers. */
export type EmbeddedEngine = Pick<
  Engine,
  | "validate"
  | "definition"
  | "source"
  | "enable"
  | "disable"
  | "undeploy"
  | "start"
  | "get"
  | "waits"
  | "cancel"
  | "resolveIncident"
  | "receipt"
  | "message"
  | "event"
  | "eventType"
  | "replayDeadLetter"
  | "removeDeadLetter"
  | "recover"
> &
  Readonly<{
    /** BPMN text, or a source with its notation. */
    deploy(source: string | Source): ReturnType<Engine["deploy"]>;
    definitions(page?: Partial<PageRequest>): Promise<Listed<DefinitionView>>;
    versions(id: string, page?: Partial<PageRequest>): Promise<Listed<DefinitionView>>;
    list(filter?: InstanceFilter & Partial<PageRequest>): Promise<Listed<InstanceView>>;
    history(instanceId: string, page?: Partial<PageRequest>): Promise<Listed<HistoryEntry>>;
    tasks(filter?: TaskFilter & Partial<PageRequest>): Promise<Listed<TaskView>>;
    /** Wakes everybody who waits for it now; the same id is the same broadcast. */
    signal(
      name: string,
      payload?: Variables,
      options?: Readonly<{ id?: string }>,
    ): Promise<SignalAnswer>;
    /** What is left out is as for events that nobody has declared. */
    setEventType(name: string, config?: Partial<EventConfig>): Promise<EventTypeView>;
    deadLetters(
      filter?: Readonly<{ name?: string }> & Partial<PageRequest>,
    ): Promise<Listed<DeadLetterView>>;
    complete: Engine["completeTask"];
    fail: Engine["failTask"];
    /** Resolves when the instance ends, without polling; rejects when time is up. */
    result(instanceId: string, options?: { timeoutMs?: number }): Promise<ResultView>;
    /** Resolves when the instance has ended or time is up. */
    waitForEnd(instanceId: string, timeoutMs: number): Promise<void>;
    /** Moves a virtual clock, and answers when nothing due, parked or running is left. */
    advanceClock(by: string): Promise<ClockAdvance>;
    /** Resolves when nothing is due, parked, queued or running. */
    idle(): Promise<void>;
    /** What the engine found to do when it was opened. */
    recovered: RecoveryReport;
    /** The engine behind this door, for other doors. */
    engine: Engine;
    /** The store's own counters since it was opened: items read, commits, their writes and bytes. */
    counters(): Readonly<{ reads: number; commits: number; writes: number; bytes: number }>;
    isVirtual: boolean;
    /** Lets running steps finish, then lets the folder go. Closing twice does nothing more. */
    close(options?: { graceMs?: number }): Promise<void>;
  }>;

/** `left` says in words what had not come to rest. */
export type ClockAdvance = Readonly<{ now: string; fired: number; left: readonly string[] }>;

const DEFAULT_LIMIT = 50;
const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_GRACE_MS = 10_000;

export function libraryDoor({
  engine,
  queues,
  store,
  ends,
  recovered,
  fired,
  onClosing,
}: Readonly<{
  engine: Engine;
  queues: Queues;
  store: LocalStore;
  ends: EndWatch;
  recovered: RecoveryReport;
  fired: FiredTimers;
  /** Called when the engine begins to close, before the store does. */
  onClosing: () => void;
}>): EmbeddedEngine {
  const waitForEnd = async (instanceId: string, timeoutMs: number): Promise<void> => {
    const watch = ends.wait(instanceId, timeoutMs);
    try {
      // Looked at after the watch began, so that an end in between is not missed.
      if (!(await hasEnded(engine, instanceId))) await watch.ended;
    } finally {
      watch.stop();
    }
  };
  let closing: Promise<void> | undefined;
  return {
    ...engine,
    start: async (definitionId, request, key) =>
      own(await engine.start(definitionId, own(request), key)),
    get: async (instanceId) => own(await engine.get(instanceId)),
    resolveIncident: (instanceId, incidentId, request, key) =>
      engine.resolveIncident(instanceId, incidentId, own(request), key),
    deploy: (source) =>
      engine.deploy(typeof source === "string" ? { notation: "bpmn", source } : source),
    definitions: (page = {}) => engine.definitions({ limit: DEFAULT_LIMIT, ...page }),
    versions: (id, page = {}) => engine.versions(id, { limit: DEFAULT_LIMIT, ...page }),
    list: async ({ limit = DEFAULT_LIMIT, cursor, ...filter } = {}) =>
      own(await engine.list(filter, { limit, ...(cursor !== undefined && { cursor }) })),
    history: (instanceId, page = {}) => engine.history(instanceId, { limit: 200, ...page }),
    tasks: async ({ limit = DEFAULT_LIMIT, cursor, ...filter } = {}) =>
      own(await engine.tasks(filter, { limit, ...(cursor !== undefined && { cursor }) })),
    signal: (name, payload, options = {}) =>
      engine.signal({ name, ...options, ...(payload !== undefined && { payload: own(payload) }) }),
    message: (request, key) => engine.message(own(request), key),
    event: (request, key) => engine.event(own(request), key),
    setEventType: (name, config = {}) => engine.setEventType(name, { ...UNDECLARED, ...config }),
    deadLetters: async ({ limit = DEFAULT_LIMIT, cursor, ...filter } = {}) =>
      own(await engine.deadLetters(filter, { limit, ...(cursor !== undefined && { cursor }) })),
    complete: (taskId, request, key) => engine.completeTask(taskId, own(request), key),
    fail: (taskId, request, key) => engine.failTask(taskId, own(request), key),
    result: async (instanceId, { timeoutMs = DEFAULT_TIMEOUT_MS } = {}) => {
      await waitForEnd(instanceId, timeoutMs);
      return own(await engine.result(instanceId));
    },
    waitForEnd,
    advanceClock: async (by) => {
      if (queues.advance === undefined) throw notVirtual();
      const duration = parseDuration(by);
      if (!duration.ok) throw notADuration(duration);
      const before = fired.count;
      const { now, left } = await queues.advance(duration.value);
      return { now: formatInstant(now), fired: fired.count - before, left };
    },
    idle: () => queues.idle(),
    recovered,
    engine,
    counters: () => {
      const { reads, commits, writes, bytes } = store;
      return { reads, commits, writes, bytes };
    },
    isVirtual: queues.advance !== undefined,
    close: ({ graceMs = DEFAULT_GRACE_MS } = {}) => {
      ends.close();
      onClosing();
      closing ??= queues.close({ graceMs }).then(() => store.close());
      return closing;
    },
  };
}

/**
 * What crosses this door is copied: a caller that goes on changing its objects changes nothing in
 * here. What cannot be copied is not JSON, and the engine says so better than we could.
 */
function own<T>(value: T): T {
  try {
    return structuredClone(value);
  } catch {
    return value;
  }
}

async function hasEnded(engine: Engine, instanceId: string): Promise<boolean> {
  const { endedAt } = await engine.get(instanceId);
  return endedAt !== undefined;
}

function notVirtual(): EngineError {
  return new EngineError("request/clock-not-virtual", {
    happened: "The clock is real: it cannot be told to move",
    where: "clock",
    fix: 'Open the engine with a virtual clock: `fermata dev --clock virtual`, or clock: "virtual".',
    retryable: false,
  });
}

function notADuration({ problem, hint }: { problem: string; hint: string }): EngineError {
  return new EngineError("request/invalid", {
    happened: "`by` is not a duration",
    where: "by",
    fix: hint,
    retryable: false,
    details: [{ path: "by", message: problem }],
  });
}
