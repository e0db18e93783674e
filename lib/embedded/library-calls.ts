/**
 * The engine's calls for users of the library: arguments are copied and validated, all problems are
 * reported at once, and omitted or undefined options get their defaults.
 */
import type * as z from "zod";
import { messageOf } from "../api/operations/messages.ts";
import {
  type InstanceView,
  viewInstance,
  viewItems,
  viewWait,
  type WaitView,
} from "../api/wait-calls.ts";
import type { Variables } from "../definition/json.ts";
import type { Engine } from "../engine/engine.ts";
import { UNDECLARED } from "../engine/rows/event.ts";
import type {
  FoundIncident,
  IncidentFilter,
  PurgeReport,
  PurgeRequest,
  ResolveReport,
  ResolveRequest,
} from "../shapes/bulk.ts";
import type { DefinitionView, ScheduleView, Source } from "../shapes/definitions.ts";
import type { HistoryEntry, InstanceFilter } from "../shapes/instances.ts";
import type { IdempotencyKey, Listed, PageRequest } from "../shapes/paging.ts";
import type {
  DeadLetterView,
  EventConfig,
  EventTypeView,
  MessageAnswer,
  MessageRequest,
  SignalAnswer,
} from "../shapes/signals.ts";
import type { TaskFilter, TaskView } from "../shapes/tasks.ts";
import { checkArguments } from "./check-arguments.ts";
import { CALLS } from "./library-shapes.ts";
import { own } from "./own-copy.ts";
import type { Start } from "./typed-workflows.ts";

/** A message as callers pass it. */
export type MessageInput = Omit<MessageRequest, "correlationKey"> &
  Readonly<{ correlationKey?: string | number }>;

/** The calls of the API as methods, with its request and response types. */
export type LibraryCalls = Pick<
  Engine,
  | "validate"
  | "definition"
  | "source"
  | "enable"
  | "disable"
  | "undeploy"
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
    start: Start;
    get(instanceId: string): Promise<InstanceView>;
    list(filter?: InstanceFilter & Partial<PageRequest>): Promise<Listed<InstanceView>>;
    waits(instanceId: string): Promise<Readonly<{ items: readonly WaitView[] }>>;
    history(instanceId: string, page?: Partial<PageRequest>): Promise<Listed<HistoryEntry>>;
    incidents(filter?: IncidentFilter & Partial<PageRequest>): Promise<Listed<FoundIncident>>;
    /** Handles one page; a dry run unless `dryRun` is false. */
    resolveIncidents(request?: ResolveRequest): Promise<ResolveReport>;
    purge(request?: PurgeRequest): Promise<PurgeReport>;
    tasks(filter?: TaskFilter & Partial<PageRequest>): Promise<Listed<TaskView>>;
    /** A number as correlation key stands for its text. */
    message(request: MessageInput, key?: IdempotencyKey): Promise<MessageAnswer>;
    /** Reaches every wait that is open now; the same id is the same broadcast. */
    signal(
      name: string,
      payload?: Variables,
      options?: Readonly<{ id?: string }>,
    ): Promise<SignalAnswer>;
    /** Omitted settings get the defaults of undeclared events. */
    setEventType(name: string, config?: Partial<EventConfig>): Promise<EventTypeView>;
    deadLetters(
      filter?: Readonly<{ name?: string }> & Partial<PageRequest>,
    ): Promise<Listed<DeadLetterView>>;
    task: Engine["task"];
    claim: Engine["claimTask"];
    unclaim: Engine["unclaimTask"];
    /** Timer start events. */
    schedules(page?: Partial<PageRequest>): Promise<Listed<ScheduleView>>;
    complete: Engine["completeTask"];
    fail: Engine["failTask"];
  }>;

const DEFAULT_LIMIT = 50;
const DEFAULT_HISTORY_LIMIT = 200;

/** The calls of this engine. */
export function libraryCalls(engine: Engine): LibraryCalls {
  return {
    deploy: async (given) =>
      engine.deploy(
        sourceOf(typeof given === "string" ? { notation: "bpmn", source: given } : given),
      ),
    validate: async (source) => engine.validate(sourceOf(source)),
    definitions: async (given) => {
      const { page } = checkArguments(CALLS.definitions, { page: given });
      return engine.definitions({ limit: DEFAULT_LIMIT, ...page });
    },
    definition: async (id, version) => {
      checkArguments(CALLS.definition, { id, version });
      return engine.definition(id, version);
    },
    versions: async (id, given) => {
      const { page } = checkArguments(CALLS.versions, { id, page: given });
      return engine.versions(id, { limit: DEFAULT_LIMIT, ...page });
    },
    source: async (id, version) => {
      checkArguments(CALLS.definitionSource, { id, version });
      return engine.source(id, version);
    },
    enable: byId(CALLS.definitionId, engine.enable),
    disable: byId(CALLS.definitionId, engine.disable),
    undeploy: byId(CALLS.definitionId, engine.undeploy),
    start: async (of: string | Readonly<{ id: string }>, given?: unknown, key?: string) => {
      const definitionId = typeof of === "object" && of !== null ? of.id : of;
      const { request } = checkArguments(CALLS.start, { definitionId, request: own(given), key });
      return viewInstance(own(await engine.start(definitionId, request, key)));
    },
    get: async (instanceId) => {
      checkArguments(CALLS.instance, { instanceId });
      return viewInstance(own(await engine.get(instanceId)));
    },
    list: async (given) => {
      const { filter, page } = splitPage(checkArguments(CALLS.list, { filter: given }).filter);
      return viewItems(own(await engine.list(filter, page)), viewInstance);
    },
    waits: async (instanceId) => {
      checkArguments(CALLS.instance, { instanceId });
      return viewItems(await engine.waits(instanceId), viewWait);
    },
    history: async (instanceId, given) => {
      const { page } = checkArguments(CALLS.history, { instanceId, page: given });
      return engine.history(instanceId, { limit: DEFAULT_HISTORY_LIMIT, ...page });
    },
    erase: async (instanceId) => {
      checkArguments(CALLS.instance, { instanceId });
      return engine.erase(instanceId);
    },
    cancel: async (instanceId, given, key) => {
      const { request } = checkArguments(CALLS.cancel, { instanceId, request: given, key });
      return engine.cancel(instanceId, request, key);
    },
    resolveIncident: async (instanceId, incidentId, given, key) => {
      const all = { instanceId, incidentId, request: own(given), key };
      const { request } = checkArguments(CALLS.resolveIncident, all);
      return engine.resolveIncident(instanceId, incidentId, request, key);
    },
    patchVariables: async (instanceId, given, key) => {
      const all = { instanceId, request: own(given), key };
      const { request } = checkArguments(CALLS.patchVariables, all);
      return engine.patchVariables(instanceId, request, key);
    },
    incidents: async (given) => {
      const { filter, page } = splitPage(checkArguments(CALLS.incidents, { filter: given }).filter);
      return engine.incidents(filter, page);
    },
    resolveIncidents: async (given) => {
      const { request = {} } = checkArguments(CALLS.resolveIncidents, { request: own(given) });
      return engine.resolveIncidents(request);
    },
    purge: async (given) => {
      const { request = {} } = checkArguments(CALLS.purge, { request: given });
      return engine.purge(request);
    },
    tasks: async (given) => {
      const { filter, page } = splitPage(checkArguments(CALLS.tasks, { filter: given }).filter);
      return own(await engine.tasks(filter, page));
    },
    task: async (taskId) => {
      checkArguments(CALLS.task, { taskId });
      return own(await engine.task(taskId));
    },
    claim: async (taskId, given, key) => {
      const { request } = checkArguments(CALLS.claim, { taskId, request: given, key });
      return engine.claimTask(taskId, request, key);
    },
    unclaim: async (taskId, given, key) => {
      const { request } = checkArguments(CALLS.unclaim, { taskId, request: given, key });
      return engine.unclaimTask(taskId, request, key);
    },
    complete: async (taskId, given, key) => {
      const { request = {} } = checkArguments(CALLS.complete, { taskId, request: own(given), key });
      return engine.completeTask(taskId, request, key);
    },
    fail: async (taskId, given, key) => {
      const { request } = checkArguments(CALLS.fail, { taskId, request: own(given), key });
      return engine.failTask(taskId, request, key);
    },
    activate: async (given) => {
      const { request } = checkArguments(CALLS.activate, { request: given });
      return own(await engine.activate(request));
    },
    heartbeat: async (taskId, given) => {
      const { request } = checkArguments(CALLS.heartbeat, { taskId, request: given });
      return engine.heartbeat(taskId, request);
    },
    taskType: async (type) => {
      checkArguments(CALLS.taskType, { type });
      return engine.taskType(type);
    },
    setTaskType: async (type, given) => {
      const { request } = checkArguments(CALLS.setTaskType, { type, request: given });
      return engine.setTaskType(type, request);
    },
    signal: async (name, payload, given) => {
      const all = { request: own({ name, payload }), options: given };
      const { request, options } = checkArguments(CALLS.signal, all);
      return engine.signal({ ...request, ...options });
    },
    receipt: async (broadcastId) => {
      checkArguments(CALLS.receipt, { broadcastId });
      return engine.receipt(broadcastId);
    },
    message: async (given, key) => {
      const { request } = checkArguments(CALLS.message, { request: own(given), key });
      return engine.message(messageOf(request), key);
    },
    event: async (given, key) => {
      const { request } = checkArguments(CALLS.event, { request: own(given), key });
      return engine.event(request, key);
    },
    eventType: async (name) => {
      checkArguments(CALLS.eventType, { name });
      return engine.eventType(name);
    },
    setEventType: async (name, given) => {
      const { config } = checkArguments(CALLS.setEventType, { name, config: given });
      return engine.setEventType(name, { ...UNDECLARED, ...config });
    },
    deadLetters: async (given) => {
      const { filter, page } = splitPage(
        checkArguments(CALLS.deadLetters, { filter: given }).filter,
      );
      return own(await engine.deadLetters(filter, page));
    },
    replayDeadLetter: byId(CALLS.made, engine.replayDeadLetter),
    removeDeadLetter: byId(CALLS.made, engine.removeDeadLetter),
    schedules: async (given) => {
      const { page } = checkArguments(CALLS.schedules, { page: given });
      return own(await engine.schedules({ limit: DEFAULT_LIMIT, ...page }));
    },
    removeSchedule: byId(CALLS.made, engine.removeSchedule),
  };
}

/** A call that takes only an id. */
function byId<T>(
  shapes: Readonly<{ id: z.ZodType }>,
  call: (id: string) => Promise<T>,
): typeof call {
  return async (id) => {
    checkArguments(shapes, { id });
    return call(id);
  };
}

const sourceOf = (given: unknown): Source => checkArguments(CALLS.source, { source: given }).source;

/** The filter of a list, separated from its page. */
function splitPage<F extends Partial<PageRequest>>(
  given: F,
): Readonly<{ filter: Omit<F, keyof PageRequest>; page: PageRequest }> {
  const { limit = DEFAULT_LIMIT, cursor, ...filter } = given;
  return { filter, page: { limit, ...(cursor !== undefined && { cursor }) } };
}
