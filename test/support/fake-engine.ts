import type { Diagnostic } from "../../lib/definition/diagnostic.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import type { FoundIncident } from "../../lib/engine/shapes/bulk.ts";
import type { DefinitionView, ScheduleView, Source } from "../../lib/engine/shapes/definitions.ts";
import type { InstanceView, StartRequest } from "../../lib/engine/shapes/instances.ts";
import type { DeadLetterView, EventConfig, ReceiptView } from "../../lib/engine/shapes/signals.ts";
import type { ActivatedTask, TaskView } from "../../lib/engine/shapes/tasks.ts";
import { EngineError, type ErrorCode } from "../../lib/ports/engine-error.ts";

const AT = "2026-07-01T10:00:00.000Z";

/** What the fake was asked, by the name of the method. */
export type Asked = readonly [method: string, ...args: readonly unknown[]];

/**
 * An engine of a few canned answers, for tests of what stands before the engine. It knows the
 * definition `order`, deployable from any source but one that contains `broken`, the instance
 * `live` with the task `live:1` and the incident `i1`, and the instance `ended`. Signals and events
 * named `many` are not done within the call, messages named `full` find no room and those named
 * `nobody` no waiter; `known` is a declared type of event. There is one receipt and one dead letter.
 */
export function fakeEngine(overrides: Partial<Engine> = {}): {
  engine: Engine;
  asked: readonly Asked[];
} {
  const asked: Asked[] = [];
  const canned = { ...cannedEngine(), ...overrides };
  const engine = new Proxy(canned, {
    get: (target, name: keyof Engine) => {
      const method = target[name];
      return (...args: unknown[]) => {
        asked.push([name, ...args]);
        return Reflect.apply(method, target, args);
      };
    },
  });
  return { engine, asked };
}

/** An error as the engine throws it. */
export function engineError(code: ErrorCode, details?: readonly Diagnostic[]): EngineError {
  const told = {
    happened: "It did not go",
    where: "here",
    fix: "Do it otherwise.",
    retryable: false,
  };
  return new EngineError(code, details === undefined ? told : { ...told, details });
}

/** Of the broadcast that the fake remembers; ids hold what a path must escape. */
export const aReceipt: ReceiptView = {
  broadcastId: "live:7~r1.a/b",
  kind: "signal",
  name: "go",
  acceptedAt: AT,
  complete: true,
  matched: 7,
  delivered: 2,
  skipped: 1,
  started: 1,
  expired: 1,
  failed: [
    { instanceId: "live", incidentId: "i1", message: "no flow to take" },
    { instanceId: "ended", message: "cannot be read" },
  ],
};

/** The event that the fake could not deliver. */
export const aSchedule: ScheduleView = {
  id: "report~every-morning",
  definition: { id: "report", version: 2 },
  element: "every-morning",
  kind: "cron",
  text: "0 0 9 * * MON-FRI",
  zone: "Europe/Berlin",
  nextDue: "2030-01-31T08:00:00.000Z",
  enabled: true,
  fired: 3,
};

export const aDeadLetter: DeadLetterView = {
  id: "ended:3~r1.a/b",
  name: "paid",
  payload: [1, null],
  at: AT,
  reason: "The instance ended before it read the event.",
  target: "ended",
  targetStatus: "succeeded",
};

/** How events behave that nobody declared. */
export const undeclared: EventConfig = {
  consumeOnRead: true,
  deliveryMode: "AfterWait",
  expireAfter: "P7D",
  onTargetTerminated: "discard",
};

/** What holds the live instance up. */
export const anIncident: FoundIncident = {
  incidentId: "i1",
  type: "JOB_NO_RETRIES",
  element: "pay",
  message: "no card",
  raisedAt: AT,
  instanceId: "live",
  definition: { id: "order", version: 1 },
  businessKey: "K 1",
};

/** What the fake finds wrong with a broken source. */
export const aDiagnostic: Diagnostic = {
  severity: "error",
  code: "bpmn/broken",
  message: "The file is broken.",
  element: "task",
  line: 3,
  hint: "Mend it.",
};

/** A task as a worker gets it. */
export const anActivatedTask: ActivatedTask = {
  taskId: "live:1",
  lockToken: "0.1.a.charge",
  type: "charge",
  instanceId: "live",
  element: "pay",
  definition: { id: "order", version: 1 },
  variables: { total: 42 },
  headers: { region: "eu" },
  attempt: 1,
  retries: 3,
  lockedUntil: AT,
  idempotencyKey: "live:1",
};

function cannedEngine(): Engine {
  const byDefinition = <T>(id: string, answer: T): T => {
    if (id !== "order") throw engineError("definition/not-found");
    return answer;
  };
  const byInstance = <T>(id: string, answer: T): T => {
    if (id !== "live" && id !== "ended") throw engineError("instance/not-found");
    return answer;
  };
  const byTask = <T>(id: string, answer: T): T => {
    if (id !== "live:1") throw engineError("task/not-found");
    return answer;
  };
  const byLetter = <T>(id: string, answer: T): T => {
    if (id !== aDeadLetter.id) throw engineError("dead-letter/not-found");
    return answer;
  };
  return {
    handle: () => Promise.reject(new Error("not faked")),
    wake: () => Promise.reject(new Error("not faked")),
    advance: () => Promise.reject(new Error("not faked")),
    recover: async () => ({
      resumed: 0,
      rearmed: 1,
      timersFired: 0,
      resent: 0,
      mailboxesPoked: 0,
      broadcastsResumed: 0,
      eventsOffered: 0,
      skipped: 2,
      unreadable: 1,
      failed: 0,
      troubles: [
        {
          key: { pk: "default#I#old", sk: "S" },
          instanceId: "old",
          code: "store/item-too-old",
          message: "It is too old.",
        },
      ],
    }),
    erase: async () => undefined,
    recoverAll: async () => ({
      resumed: 0,
      rearmed: 1,
      timersFired: 0,
      resent: 0,
      mailboxesPoked: 0,
      broadcastsResumed: 0,
      eventsOffered: 0,
      skipped: 2,
      unreadable: 1,
      failed: 0,
      troubles: [
        {
          key: { pk: "default#I#old", sk: "S" },
          instanceId: "old",
          code: "store/item-too-old",
          message: "It is too old.",
        },
      ],
    }),
    adopt: () => Promise.reject(new Error("not faked")),
    sweep: () => Promise.reject(new Error("not faked")),
    turnWheel: () => Promise.reject(new Error("not faked")),
    giveUp: () => Promise.reject(new Error("not faked")),
    deploy: async (source) => {
      compile(source);
      const { enabled: _, deployedAt: __, live: ___, ...deployed } = aDefinition();
      const warning: Diagnostic = { ...aDiagnostic, severity: "warning" };
      const definitions = [{ ...deployed, warnings: [warning] }];
      return { created: !source.source.includes("again"), definitions };
    },
    validate: async ({ source }) =>
      source.includes("broken")
        ? { valid: false, diagnostics: [aDiagnostic] }
        : { valid: true, diagnostics: [] },
    definitions: async ({ limit, cursor }) => {
      if (cursor !== undefined && cursor !== "more") throw engineError("store/cursor-invalid");
      return { items: [aDefinition()], ...(limit === 1 && { nextCursor: "more" }) };
    },
    definition: async (id, version = 1) => {
      if (version !== 1) throw engineError("definition/not-found");
      return byDefinition(id, aDefinition());
    },
    versions: async (id) => byDefinition(id, { items: [aDefinition()] }),
    source: async (id) => byDefinition(id, { notation: "bpmn", text: "<a>ü</a>" }),
    enable: async (id) => byDefinition(id, aDefinition()),
    disable: async (id) => byDefinition(id, { ...aDefinition(), enabled: false }),
    undeploy: async (id) => byDefinition(id, { undeployed: true }),
    start: async (id, request) => byDefinition(id, anInstance("live", request)),
    get: async (id) => byInstance(id, anInstance(id)),
    list: async () => ({ items: [anInstance("live"), anInstance("ended")] }),
    result: async (id) => {
      if (id === "live") throw engineError("instance/not-ended");
      const { variables } = anInstance(id);
      return byInstance(id, {
        status: "succeeded",
        terminationKind: "success",
        result: variables,
        variables,
      });
    },
    waits: async (id) => byInstance(id, { items: anInstance(id).waits }),
    history: async (id) =>
      byInstance(id, { items: [{ seq: 1, at: AT, type: "element-entered", element: "pay" }] }),
    cancel: async (id) => byInstance(id, { cancelled: id === "live" }),
    resolveIncident: async (id, incidentId) => {
      if (incidentId !== "i1") throw engineError("incident/not-found");
      return byInstance(id, { resolved: true });
    },
    patchVariables: async (id, { scope }) => {
      if (scope === "closed") throw engineError("instance/scope-not-found");
      if (scope === "twice") throw engineError("instance/scope-ambiguous");
      if (id === "ended") throw engineError("instance/not-live");
      return byInstance(id, { patched: true });
    },
    incidents: async (_, { limit }) => ({
      items: [anIncident],
      ...(limit === 1 && { nextCursor: "more" }),
    }),
    resolveIncidents: async ({ dryRun = true, limit }) => ({
      dryRun,
      matched: 2,
      resolved: dryRun ? 0 : 1,
      gone: 0,
      refused: dryRun ? 0 : 1,
      items: dryRun
        ? [{ ...anIncident, outcome: "matched" }]
        : [
            { ...anIncident, outcome: "resolved" },
            {
              ...anIncident,
              outcome: "refused",
              problem: { code: "engine/busy", message: "The instance is too busy." },
            },
          ],
      ...(limit === 1 && { nextCursor: "more" }),
    }),
    purge: async ({ dryRun = true }) => ({
      dryRun,
      matched: 1,
      purged: dryRun ? 0 : 1,
      gone: 0,
      refused: 0,
      items: [
        {
          instanceId: "ended",
          definition: { id: "order", version: 1 },
          status: "succeeded",
          endedAt: AT,
          outcome: dryRun ? "matched" : "purged",
        },
      ],
    }),
    signal: async ({ name, id }, key) => {
      const broadcastId = id ?? key ?? "made";
      return name === "many"
        ? { broadcastId }
        : { broadcastId, deliveredCount: 3, startedCount: 1 };
    },
    receipt: async (id) => {
      if (id !== aReceipt.broadcastId) throw engineError("broadcast/not-found");
      return aReceipt;
    },
    message: async ({ name, messageId }, key) => {
      if (name === "full") throw engineError("message/mailbox-full");
      if (name === "nobody") throw engineError("message/no-waiter");
      return { messageId: messageId ?? key ?? "made", outcome: "delivered", instanceId: "live" };
    },
    event: async ({ name, target, id: own }, key = "made") => {
      const id = own ?? key;
      if (target === undefined) {
        return name === "many" ? { id } : { id, outcome: "delivered", deliveredCount: 2 };
      }
      if (target === "ended") throw engineError("instance/ended");
      return byInstance(target, { id, outcome: "queued" });
    },
    setEventType: async (name, config) => ({ name, declared: true, ...config }),
    eventType: async (name) => ({ name, declared: name === "known", ...undeclared }),
    deadLetters: async ({ name = aDeadLetter.name }) => ({
      items: name === aDeadLetter.name ? [aDeadLetter] : [],
    }),
    replayDeadLetter: async (id) =>
      byLetter(id, { id: `${id}~r1`, outcome: "delivered", deliveredCount: 1 }),
    removeDeadLetter: async (id) => byLetter(id, { removed: true }),
    schedules: async () => ({ items: [aSchedule] }),
    removeSchedule: async (id) => {
      if (id !== aSchedule.id) throw engineError("schedule/not-found");
      return { removed: true };
    },
    tasks: async () => ({ items: [aTaskOf("live:1")] }),
    task: async (id) => byTask(id, aUserTask),
    claimTask: async (id, { user }) => {
      if (user === "late") throw engineError("task/claimed");
      return byTask(id, { claimed: true });
    },
    unclaimTask: async (id) => byTask(id, { unclaimed: true }),
    completeTask: async (id) => byTask(id, { completed: true }),
    failTask: async (id) => byTask(id, { failed: true }),
    activate: async () => ({ tasks: [anActivatedTask] }),
    heartbeat: async (id) => byTask(id, { lockToken: "0.1.b.charge", lockedUntil: AT }),
    listing: async (definition) => byDefinition(definition, { definition, shards: 1 }),
    setListing: async (definition, { shards }) => byDefinition(definition, { definition, shards }),
    setTaskType: async (type, { queueArn }) => ({ type, queueArn, shards: 1 }),
    taskType: async (type) => ({ type, queueArn: null, shards: 1 }),
  };
}

const aTaskOf = (taskId: string): TaskView => ({
  taskId,
  type: "charge",
  instanceId: "live",
  element: "pay",
  definition: { id: "order", version: 1 },
  variables: { total: 42 },
  headers: { region: "eu" },
  attempt: 1,
  retries: 3,
  idempotencyKey: taskId,
  createdAt: AT,
  runsHere: false,
});

/** A task that a person does, with everything that one can have. */
export const aUserTask: TaskView = {
  ...aTaskOf("live:1"),
  type: "io.camunda.zeebe:userTask",
  state: "claimed",
  assignee: "anna",
  candidateUsers: ["anna", "bert"],
  candidateGroups: ["sales"],
  dueDate: AT,
  followUpDate: AT,
  priority: 80,
  requiredOutputs: ["approved"],
  form: { formKey: "camunda-forms:bpmn:approve", body: { components: [] } },
};

function compile({ notation, source }: Source): void {
  if (notation !== "bpmn") throw engineError("definition/notation-unknown");
  if (source.includes("broken"))
    throw engineError("definition/invalid", [aDiagnostic, aDiagnostic]);
}

function aDefinition(): DefinitionView {
  return {
    id: "order",
    version: 1,
    hash: "abc",
    notation: "bpmn",
    name: "An order",
    startEvents: [
      { element: "start", kind: "none" },
      { element: "by-message", kind: "message", name: "paid" },
    ],
    enabled: true,
    deployedAt: AT,
    live: { count: 1, more: false },
  };
}

function anInstance(id: string, request: StartRequest = {}): InstanceView {
  const { variables = { total: 42 }, instanceId = id, businessKey, tags } = request;
  const common = {
    instanceId,
    definition: { id: "order", version: 1 },
    ...(businessKey !== undefined && { businessKey }),
    ...(tags !== undefined && { tags }),
    variables,
    startedAt: AT,
    updatedAt: AT,
  };
  if (id === "ended") {
    return {
      ...common,
      status: "succeeded",
      terminationKind: "success",
      activeElements: [],
      completedElements: ["start", "pay", "end"],
      waits: [],
      incidents: [],
      endedAt: AT,
      result: variables,
    };
  }
  return {
    ...common,
    status: "running",
    activeElements: ["pay"],
    completedElements: ["start"],
    waits: [
      {
        kind: "task",
        element: "pay",
        since: AT,
        taskType: "charge",
        taskId: "live:1",
        runsHere: false,
        wakeWith: { method: "POST", path: "/v1/tasks/live%3A1/complete", body: { variables: {} } },
      },
      {
        kind: "message",
        element: "paid",
        since: AT,
        name: "paid",
        correlationKey: "42",
        wakeWith: {
          method: "POST",
          path: "/v1/messages",
          body: { name: "paid", correlationKey: "42" },
        },
      },
      {
        kind: "signal",
        element: "go",
        since: AT,
        name: "go",
        wakeWith: { method: "POST", path: "/v1/signals", body: { name: "go" } },
      },
      {
        kind: "event",
        element: "seen",
        since: AT,
        name: "seen",
        wakeWith: { method: "POST", path: "/v1/events", body: { name: "seen", target: "live" } },
      },
    ],
    incidents: [
      { incidentId: "i1", type: "JOB_NO_RETRIES", element: "pay", message: "no", raisedAt: AT },
    ],
  };
}
