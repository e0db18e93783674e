// The responses of the fake engine.
import type { Diagnostic } from "../../lib/definition/diagnostic.ts";
import type { FoundIncident } from "../../lib/shapes/bulk.ts";
import type { DefinitionView, ScheduleView } from "../../lib/shapes/definitions.ts";
import type { InstanceView, StartRequest } from "../../lib/shapes/instances.ts";
import type { DeadLetterView, EventConfig, ReceiptView } from "../../lib/shapes/signals.ts";
import type { ActivatedTask, TaskView } from "../../lib/shapes/tasks.ts";

/** When everything happened. */
export const AT = "2026-07-01T10:00:00.000Z";

/** Of the broadcast that the fake knows; ids contain characters that a path must escape. */
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

/** The timer start of the fake. */
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

/** The event that the fake could not deliver. */
export const aDeadLetter: DeadLetterView = {
  id: "ended:3~r1.a/b",
  name: "paid",
  payload: [1, null],
  at: AT,
  reason: "The instance ended before it read the event.",
  target: "ended",
  targetStatus: "succeeded",
};

/** The defaults of an undeclared event type. */
export const undeclared: EventConfig = {
  consumeOnRead: true,
  deliveryMode: "AfterWait",
  expireAfter: "P7D",
  onTargetTerminated: "discard",
};

/** The incident of the live instance. */
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

/** The diagnostics of the fake for a broken source. */
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

/** A task that the engine offers. */
export const aTaskOf = (taskId: string): TaskView => ({
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

/** A user task with all its fields. */
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

/** The definition that the fake knows. */
export function aDefinition(): DefinitionView {
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

/** An instance of it, live unless its id is `ended`. */
export function anInstance(id: string, request: StartRequest = {}): InstanceView {
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
      tokens: [],
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
    tokens: [{ element: "pay", count: 1 }],
    completedElements: ["start"],
    waits: [
      {
        kind: "task",
        element: "pay",
        since: AT,
        taskType: "charge",
        taskId: "live:1",
        runsHere: false,
        wakeWith: { call: "completeTask", taskId: "live:1", body: { variables: {} } },
      },
      {
        kind: "message",
        element: "paid",
        since: AT,
        name: "paid",
        correlationKey: "42",
        wakeWith: { call: "message", body: { name: "paid", correlationKey: "42" } },
      },
      {
        kind: "signal",
        element: "go",
        since: AT,
        name: "go",
        wakeWith: { call: "signal", body: { name: "go" } },
      },
      {
        kind: "event",
        element: "seen",
        since: AT,
        name: "seen",
        wakeWith: { call: "event", body: { name: "seen", target: "live" } },
      },
    ],
    incidents: [
      { incidentId: "i1", type: "JOB_NO_RETRIES", element: "pay", message: "no", raisedAt: AT },
    ],
  };
}
