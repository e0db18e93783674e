import type {
  Activation,
  ActivationRequest,
  ClaimRequest,
  ClockAdvance,
  CompletionRequest,
  DeadLetterView,
  DefinitionView,
  DeployedView,
  Diagnostic,
  EventAnswer,
  EventConfig,
  EventRequest,
  EventTypeView,
  FoundIncident,
  Heartbeat,
  HeartbeatRequest,
  HistoryEntry,
  IncidentFilter,
  InstanceFilter,
  InstanceView,
  Listed,
  ListingView,
  MessageAnswer,
  MessageRequest,
  Notation,
  PageRequest,
  PurgeReport,
  PurgeRequest,
  ReceiptView,
  RecoveryReport,
  ResolveReport,
  ResolveRequest,
  ResultView,
  ScheduleView,
  SignalAnswer,
  SignalRequest,
  StartRequest,
  TaskFailure,
  TaskFilter,
  TaskTypeView,
  TaskView,
  Variables,
  VariablesPatch,
  WaitView,
} from "../api/views.ts";
import { refuseUnknownOptions } from "./known-options.ts";
import { type Call, createTransport, segment, type TransportOptions } from "./transport.ts";

/** Which engine to talk to, and how. */
export type ClientOptions = TransportOptions;

const CLIENT_OPTIONS = { baseUrl: true, token: true, sign: true, fetch: true } as const;

/** BPMN as text or as the bytes of its file, or any notation by name. */
export type SourceInput =
  | string
  | Uint8Array
  | Readonly<{ notation: Exclude<Notation, "code">; source: string }>;

/** A number as the key stands for its text. */
export type MessageInput = Omit<MessageRequest, "correlationKey"> &
  Readonly<{ correlationKey?: string | number }>;

type Page = Partial<PageRequest>;
/** The same key and body give the same response. */
type Keyed = Readonly<{ idempotencyKey?: string }>;

/** A method for every call of the HTTP API; each throws an ApiError for an error response. */
export type Client = ReturnType<typeof createClient>;

/** Talks to an engine over HTTP. */
export function createClient(options: ClientOptions) {
  refuseUnknownOptions("createClient", options, CLIENT_OPTIONS);
  const send = createTransport(options);
  const ask = async <T>(call: Call): Promise<T> => parseAnswer<T>(await (await send(call)).text());
  const get = <T>(path: string, query?: Call["query"]) =>
    ask<T>({ method: "GET", path, ...(query !== undefined && { query }) });
  const post = <T>(path: string, json?: unknown, { idempotencyKey }: Keyed = {}) =>
    ask<T>({ method: "POST", path, json, idempotencyKey });
  const definition = (id: string) => `/v1/definitions/${segment(id)}`;
  const instance = (id: string) => `/v1/instances/${segment(id)}`;
  const eventType = (name: string) => `/v1/event-types/${segment(name)}`;
  const deadLetter = (id: string) => `/v1/dead-letters/${segment(id)}`;
  const taskType = (type: string) => `/v1/task-types/${segment(type)}`;
  const task = (id: string) => `/v1/tasks/${segment(id)}`;

  return {
    /** `created` is false when the source is identical to the latest. */
    deploy: async (source: SourceInput) => {
      const response = await send({ method: "POST", path: "/v1/definitions", ...bodyOf(source) });
      const body = parseAnswer<{ definitions: readonly DeployedView[] }>(await response.text());
      return { created: response.status === 201, ...body };
    },
    validate: (source: SourceInput) =>
      ask<{ valid: boolean; diagnostics: readonly Diagnostic[] }>({
        method: "POST",
        path: "/v1/definitions:validate",
        ...bodyOf(source),
      }),
    /** Deploys a bundle of workflows in code; the server must have been started to take code. */
    deployCode: async (bundle: string) => {
      const source = { text: bundle, type: CODE_TYPE };
      const response = await send({ method: "POST", path: "/v1/definitions:code", source });
      const body = parseAnswer<{ definitions: readonly DeployedView[] }>(await response.text());
      return { created: response.status === 201, ...body };
    },
    validateCode: (bundle: string) =>
      ask<{ valid: boolean; diagnostics: readonly Diagnostic[] }>({
        method: "POST",
        path: "/v1/definitions:validate-code",
        source: { text: bundle, type: CODE_TYPE },
      }),
    definitions: (page: Page = {}) => get<Listed<DefinitionView>>("/v1/definitions", page),
    definition: (id: string, version?: number) =>
      get<DefinitionView>(
        version === undefined ? definition(id) : `${definition(id)}/versions/${version}`,
      ),
    versions: (id: string, page: Page = {}) =>
      get<Listed<DefinitionView>>(`${definition(id)}/versions`, page),
    /** The text of a version's source. */
    source: async (id: string, version: number): Promise<string> => {
      const path = `${definition(id)}/versions/${version}/source`;
      const response = await send({ method: "GET", path });
      const type = response.headers.get("content-type") ?? "";
      const charset = /charset=([^;]+)/.exec(type)?.[1] ?? "utf-8";
      return new TextDecoder(charset, { ignoreBOM: true }).decode(await response.arrayBuffer());
    },
    enable: (id: string) => post<DefinitionView>(`${definition(id)}/enable`),
    disable: (id: string) => post<DefinitionView>(`${definition(id)}/disable`),
    listing: (id: string) => get<ListingView>(`${definition(id)}/listing`),
    /** Spreads the lists of its instances over more shards; the number only grows. */
    setListing: (id: string, request: Readonly<{ shards: number }>) =>
      ask<ListingView>({ method: "PUT", path: `${definition(id)}/listing`, json: request }),
    undeploy: (id: string) =>
      ask<{ undeployed: boolean }>({ method: "DELETE", path: definition(id) }),

    start: (definitionId: string, request: StartRequest = {}, keyed: Keyed = {}) =>
      post<InstanceView>(`${definition(definitionId)}/instances`, request, keyed),
    get: (instanceId: string) => get<InstanceView>(instance(instanceId)),
    list: (filter: InstanceFilter & Page = {}) =>
      get<Listed<InstanceView>>("/v1/instances", filter),
    /** Throws `instance/not-ended` when it is still live after `waitSeconds`. */
    result: (instanceId: string, { waitSeconds }: Readonly<{ waitSeconds?: number }> = {}) =>
      get<ResultView>(`${instance(instanceId)}/result`, { waitSeconds }),
    waits: (instanceId: string) =>
      get<{ items: readonly WaitView[] }>(`${instance(instanceId)}/waits`),
    history: (instanceId: string, page: Page = {}) =>
      get<Listed<HistoryEntry>>(`${instance(instanceId)}/history`, page),
    cancel: (instanceId: string, request: Readonly<{ reason?: string }> = {}, keyed: Keyed = {}) =>
      post<{ cancelled: boolean }>(`${instance(instanceId)}/cancel`, request, keyed),
    /** Erases the data of an ended instance. */
    erase: async (instanceId: string): Promise<void> => {
      await send({ method: "DELETE", path: instance(instanceId) });
    },
    resolveIncident: (
      instanceId: string,
      incidentId: string,
      request: Readonly<{ variables?: Variables; retries?: number }> = {},
      keyed: Keyed = {},
    ) =>
      post<{ resolved: true }>(
        `${instance(instanceId)}/incidents/${segment(incidentId)}/resolve`,
        request,
        keyed,
      ),
    /** Sets variables of the process, or of `scope`, an open element; no token moves. */
    patchVariables: (instanceId: string, patch: VariablesPatch, { idempotencyKey }: Keyed = {}) =>
      ask<{ patched: true }>({
        method: "PATCH",
        path: `${instance(instanceId)}/variables`,
        json: patch,
        idempotencyKey,
      }),
    incidents: (filter: IncidentFilter & Page = {}) =>
      get<Listed<FoundIncident>>("/v1/incidents", filter),
    /** Handles one page; a dry run unless `dryRun` is false. Pass `nextCursor` back for more. */
    resolveIncidents: (request: ResolveRequest = {}) =>
      post<ResolveReport>("/v1/incidents:resolve", request),
    purge: (request: PurgeRequest = {}) => post<PurgeReport>("/v1/instances:purge", request),

    /** The counts are set when every wait was reached within the call. */
    signal: (request: SignalRequest, keyed: Keyed = {}) =>
      post<SignalAnswer>("/v1/signals", request, keyed),
    /** The receipt of a broadcast signal or event. */
    receipt: (broadcastId: string) => get<ReceiptView>(`/v1/signals/${segment(broadcastId)}`),
    message: (request: MessageInput, keyed: Keyed = {}) =>
      post<MessageAnswer>("/v1/messages", request, keyed),
    /** Without an outcome it is still being delivered: see its receipt. */
    event: (request: EventRequest, keyed: Keyed = {}) =>
      post<EventAnswer>("/v1/events", request, keyed),
    /** Omitted settings get their defaults, whatever they were before. */
    setEventType: (name: string, config: Partial<EventConfig> = {}) =>
      ask<EventTypeView>({ method: "PUT", path: eventType(name), json: config }),
    eventType: (name: string) => get<EventTypeView>(eventType(name)),
    deadLetters: (filter: Readonly<{ name?: string }> & Page = {}) =>
      get<Listed<DeadLetterView>>("/v1/dead-letters", filter),
    replayDeadLetter: (id: string) => post<EventAnswer>(`${deadLetter(id)}/replay`),
    schedules: (page: Page = {}) => get<Listed<ScheduleView>>("/v1/schedules", page),
    removeSchedule: (id: string) =>
      ask<{ removed: true }>({ method: "DELETE", path: `/v1/schedules/${segment(id)}` }),
    removeDeadLetter: (id: string) =>
      ask<{ removed: true }>({ method: "DELETE", path: deadLetter(id) }),

    tasks: (filter: TaskFilter & Page = {}) => get<Listed<TaskView>>("/v1/tasks", filter),
    /** One open task, with the text of its form where the definition has it. */
    task: (taskId: string) => get<TaskView>(task(taskId)),
    /** Throws `task/claimed` if another user has claimed it. */
    claimTask: (taskId: string, request: ClaimRequest, keyed: Keyed = {}) =>
      post<{ claimed: true }>(`${task(taskId)}/claim`, request, keyed),
    unclaimTask: (taskId: string, request: Readonly<{ user: string }>, keyed: Keyed = {}) =>
      post<{ unclaimed: true }>(`${task(taskId)}/unclaim`, request, keyed),
    completeTask: (taskId: string, request: CompletionRequest = {}, keyed: Keyed = {}) =>
      post<{ completed: true }>(`${task(taskId)}/complete`, request, keyed),
    failTask: (taskId: string, request: TaskFailure, keyed: Keyed = {}) =>
      post<{ failed: true }>(`${task(taskId)}/fail`, request, keyed),
    /** Takes open tasks of a type, each under a lock; `worker` of this package does all of this. */
    activate: (request: ActivationRequest) => post<Activation>("/v1/tasks/activate", request),
    heartbeat: (taskId: string, request: HeartbeatRequest) =>
      post<Heartbeat>(`${task(taskId)}/heartbeat`, request),
    taskType: (type: string) => get<TaskTypeView>(taskType(type)),
    /** On AWS: the tasks of a type go to a queue of yours; null undoes it. */
    setTaskType: (type: string, request: Readonly<{ queueArn: string | null }>) =>
      ask<TaskTypeView>({ method: "PUT", path: taskType(type), json: request }),

    recover: () => post<RecoveryReport>("/v1/recover"),
    /** Handles one page of live instances; pass `nextCursor` back until there is none. */
    recoverAll: (page: Page = {}) =>
      ask<RecoveryReport & { nextCursor?: string }>({
        method: "POST",
        path: "/v1/recover/all",
        query: page,
      }),
    /** Moves a virtual clock by a duration, such as `P1D`. */
    advanceClock: (by: string) => post<ClockAdvance>("/v1/clock/advance", { by }),
    health: () => get<{ status: "ok"; version: string; clock: "real" | "virtual" }>("/v1/health"),
    openApi: () => get<Readonly<Record<string, unknown>>>("/v1/openapi.json"),
  };
}

const CODE_TYPE = "application/javascript";

function bodyOf(source: SourceInput): Pick<Call, "source" | "json"> {
  if (typeof source === "string") {
    // Text is sent as UTF-8, whatever encoding its XML declaration was written for.
    return { source: { text: source, type: "application/xml; charset=utf-8" } };
  }
  if (source instanceof Uint8Array) return { source: { text: source, type: "application/xml" } };
  return { json: source };
}

function parseAnswer<T>(text: string): T {
  return JSON.parse(text) as T;
}
