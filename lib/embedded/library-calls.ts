/**
 * The engine's calls for callers of the library: what they pass is copied, checked and told all that
 * is wrong with it, and what they leave out, or pass as undefined, has its default.
 */
import { correlationText } from "../definition/expression.ts";
import type { Variables } from "../definition/json.ts";
import type { Engine } from "../engine/engine.ts";
import { UNDECLARED } from "../engine/events/event-type.ts";
import { checkRequest, type Rule } from "../engine/request-rules.ts";
import type {
  FoundIncident,
  IncidentFilter,
  PurgeReport,
  PurgeRequest,
  ResolveReport,
  ResolveRequest,
} from "../engine/shapes/bulk.ts";
import type { DefinitionView, ScheduleView, Source } from "../engine/shapes/definitions.ts";
import type { HistoryEntry, InstanceFilter, InstanceView } from "../engine/shapes/instances.ts";
import type { IdempotencyKey, Listed, PageRequest } from "../engine/shapes/paging.ts";
import type {
  DeadLetterView,
  EventConfig,
  EventTypeView,
  MessageAnswer,
  MessageRequest,
  SignalAnswer,
} from "../engine/shapes/signals.ts";
import type { TaskFilter, TaskView } from "../engine/shapes/tasks.ts";
import { RULES } from "./library-requests.ts";
import { own } from "./own-copy.ts";

/** A message as callers write it. */
export type MessageInput = Omit<MessageRequest, "correlationKey"> &
  Readonly<{ correlationKey?: string | number }>;

/** The calls of the API as methods, with its bodies and answers. */
export type LibraryCalls = Pick<
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
  | "erase"
  | "resolveIncident"
  | "patchVariables"
  | "receipt"
  | "event"
  | "eventType"
  | "replayDeadLetter"
  | "removeDeadLetter"
  | "removeSchedule"
  | "activate"
  | "heartbeat"
  | "taskType"
  | "setTaskType"
> &
  Readonly<{
    /** BPMN text, or a source with its notation. */
    deploy(source: string | Source): ReturnType<Engine["deploy"]>;
    definitions(page?: Partial<PageRequest>): Promise<Listed<DefinitionView>>;
    versions(id: string, page?: Partial<PageRequest>): Promise<Listed<DefinitionView>>;
    list(filter?: InstanceFilter & Partial<PageRequest>): Promise<Listed<InstanceView>>;
    history(instanceId: string, page?: Partial<PageRequest>): Promise<Listed<HistoryEntry>>;
    incidents(filter?: IncidentFilter & Partial<PageRequest>): Promise<Listed<FoundIncident>>;
    /** A page of them, and a dry run unless `dryRun` is false. */
    resolveIncidents(request?: ResolveRequest): Promise<ResolveReport>;
    purge(request?: PurgeRequest): Promise<PurgeReport>;
    tasks(filter?: TaskFilter & Partial<PageRequest>): Promise<Listed<TaskView>>;
    /** A number as correlation key stands for its text. */
    message(request: MessageInput, key?: IdempotencyKey): Promise<MessageAnswer>;
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
    task: Engine["task"];
    claim: Engine["claimTask"];
    unclaim: Engine["unclaimTask"];
    /** What begins by itself. */
    schedules(page?: Partial<PageRequest>): Promise<Listed<ScheduleView>>;
    complete: Engine["completeTask"];
    fail: Engine["failTask"];
  }>;

const DEFAULT_LIMIT = 50;
const DEFAULT_HISTORY_LIMIT = 200;

/** The calls of this engine. */
export function libraryCalls(engine: Engine): LibraryCalls {
  return {
    deploy: async (given) => {
      const source =
        typeof given === "string" ? { notation: "bpmn" as const, source: given } : given;
      checkRequest(RULES.source, { source });
      return engine.deploy(source);
    },
    validate: async (source) => {
      checkRequest(RULES.source, { source });
      return engine.validate(source);
    },
    definitions: async (page = {}) => {
      checkRequest(RULES.definitions, { page });
      return engine.definitions({ limit: DEFAULT_LIMIT, ...settled(page) });
    },
    definition: async (id, version) => {
      checkRequest(RULES.definition, { id, version });
      return engine.definition(id, version);
    },
    versions: async (id, page = {}) => {
      checkRequest(RULES.versions, { id, page });
      return engine.versions(id, { limit: DEFAULT_LIMIT, ...settled(page) });
    },
    source: async (id, version) => {
      checkRequest(RULES.definitionSource, { id, version });
      return engine.source(id, version);
    },
    enable: byId(RULES.definitionId, engine.enable),
    disable: byId(RULES.definitionId, engine.disable),
    undeploy: byId(RULES.definitionId, engine.undeploy),
    start: async (definitionId, given = {}, key) => {
      const request = own(given);
      checkRequest(RULES.start, { definitionId, request, key });
      return own(await engine.start(definitionId, settled(request), key));
    },
    get: async (instanceId) => {
      checkRequest(RULES.instance, { instanceId });
      return own(await engine.get(instanceId));
    },
    list: async (filter = {}) => {
      checkRequest(RULES.list, { filter });
      const { limit = DEFAULT_LIMIT, cursor, ...rest } = settled(filter);
      return own(await engine.list(rest, { limit, ...(cursor !== undefined && { cursor }) }));
    },
    waits: async (instanceId) => {
      checkRequest(RULES.instance, { instanceId });
      return engine.waits(instanceId);
    },
    history: async (instanceId, page = {}) => {
      checkRequest(RULES.history, { instanceId, page });
      return engine.history(instanceId, { limit: DEFAULT_HISTORY_LIMIT, ...settled(page) });
    },
    erase: async (instanceId) => {
      checkRequest(RULES.instance, { instanceId });
      return engine.erase(instanceId);
    },
    cancel: async (instanceId, request = {}, key) => {
      checkRequest(RULES.cancel, { instanceId, request, key });
      return engine.cancel(instanceId, settled(request), key);
    },
    resolveIncident: async (instanceId, incidentId, given = {}, key) => {
      const request = own(given);
      checkRequest(RULES.resolveIncident, { instanceId, incidentId, request, key });
      return engine.resolveIncident(instanceId, incidentId, settled(request), key);
    },
    patchVariables: async (instanceId, given, key) => {
      const request = own(given);
      checkRequest(RULES.patchVariables, { instanceId, request, key });
      return engine.patchVariables(instanceId, settled(request), key);
    },
    incidents: async (filter = {}) => {
      checkRequest(RULES.incidents, { filter });
      const { limit = DEFAULT_LIMIT, cursor, ...rest } = settled(filter);
      return engine.incidents(rest, { limit, ...(cursor !== undefined && { cursor }) });
    },
    resolveIncidents: async (given = {}) => {
      const request = own(given);
      checkRequest(RULES.resolveIncidents, { request });
      const { filter = {}, ...rest } = settled(request);
      return engine.resolveIncidents({ ...rest, filter: settled(filter) });
    },
    purge: async (request = {}) => {
      checkRequest(RULES.purge, { request });
      const { filter = {}, ...rest } = settled(request);
      return engine.purge({ ...rest, filter: settled(filter) });
    },
    tasks: async (filter = {}) => {
      checkRequest(RULES.tasks, { filter });
      const { limit = DEFAULT_LIMIT, cursor, ...rest } = settled(filter);
      return own(await engine.tasks(rest, { limit, ...(cursor !== undefined && { cursor }) }));
    },
    task: async (taskId) => {
      checkRequest(RULES.task, { taskId });
      return own(await engine.task(taskId));
    },
    claim: async (taskId, request, key) => {
      checkRequest(RULES.claim, { taskId, request, key });
      return engine.claimTask(taskId, settled(request), key);
    },
    unclaim: async (taskId, request, key) => {
      checkRequest(RULES.unclaim, { taskId, request, key });
      return engine.unclaimTask(taskId, settled(request), key);
    },
    complete: async (taskId, given = {}, key) => {
      const request = own(given);
      checkRequest(RULES.complete, { taskId, request, key });
      return engine.completeTask(taskId, settled(request), key);
    },
    fail: async (taskId, given, key) => {
      const request = own(given);
      checkRequest(RULES.fail, { taskId, request, key });
      return engine.failTask(taskId, settled(request), key);
    },
    activate: async (request) => {
      checkRequest(RULES.activate, { request });
      return own(await engine.activate(settled(request)));
    },
    heartbeat: async (taskId, request) => {
      checkRequest(RULES.heartbeat, { taskId, request });
      return engine.heartbeat(taskId, settled(request));
    },
    taskType: async (type) => {
      checkRequest(RULES.taskType, { type });
      return engine.taskType(type);
    },
    setTaskType: async (type, request) => {
      checkRequest(RULES.setTaskType, { type, request });
      return engine.setTaskType(type, request);
    },
    signal: async (name, given, options = {}) => {
      const payload = own(given);
      checkRequest(RULES.signal, { name, payload, options });
      return engine.signal({
        name,
        ...settled(options),
        ...(payload !== undefined && { payload }),
      });
    },
    receipt: async (broadcastId) => {
      checkRequest(RULES.receipt, { broadcastId });
      return engine.receipt(broadcastId);
    },
    message: async (given, key) => {
      const request = own(given);
      checkRequest(RULES.message, { request, key });
      const { correlationKey, ...rest } = settled(request);
      const text =
        typeof correlationKey === "number" ? correlationText(correlationKey) : correlationKey;
      return engine.message({ ...rest, ...(text !== undefined && { correlationKey: text }) }, key);
    },
    event: async (given, key) => {
      const request = own(given);
      checkRequest(RULES.event, { request, key });
      return engine.event(settled(request), key);
    },
    eventType: async (name) => {
      checkRequest(RULES.eventType, { name });
      return engine.eventType(name);
    },
    setEventType: async (name, config = {}) => {
      checkRequest(RULES.setEventType, { name, config });
      return engine.setEventType(name, { ...UNDECLARED, ...settled(config) });
    },
    deadLetters: async (filter = {}) => {
      checkRequest(RULES.deadLetters, { filter });
      const { limit = DEFAULT_LIMIT, cursor, ...rest } = settled(filter);
      const page = { limit, ...(cursor !== undefined && { cursor }) };
      return own(await engine.deadLetters(rest, page));
    },
    replayDeadLetter: byId(RULES.deadLetter, engine.replayDeadLetter),
    removeDeadLetter: byId(RULES.deadLetter, engine.removeDeadLetter),
    schedules: async (page = {}) => {
      checkRequest(RULES.schedules, { page });
      return own(await engine.schedules({ limit: DEFAULT_LIMIT, ...settled(page) }));
    },
    removeSchedule: byId(RULES.deadLetter, engine.removeSchedule),
  };
}

/** A call that is given nothing but the id of something. */
function byId<T>(rules: Readonly<{ id: Rule }>, call: (id: string) => Promise<T>): typeof call {
  return async (id) => {
    checkRequest(rules, { id });
    return call(id);
  };
}

/** Settings as they count: what is undefined was left out. */
function settled<T extends object>(given: T): T {
  const left = { ...given };
  for (const [name, value] of Object.entries(left)) {
    if (value === undefined) Reflect.deleteProperty(left, name);
  }
  return left;
}
