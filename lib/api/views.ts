/** The request and response types of the API, for clients over HTTP. */
export type { Notation } from "../definition/definition.ts";
export type { Diagnostic } from "../definition/diagnostic.ts";
export type { Json, Variables } from "../definition/json.ts";
export type {
  BulkOutcome,
  EndedInstance,
  FoundIncident,
  IncidentFilter,
  PurgeFilter,
  PurgeReport,
  PurgeRequest,
  ResolveReport,
  ResolveRequest,
} from "../shapes/bulk.ts";
export type {
  DefinitionView,
  DeployedView,
  ListingView,
  ScheduleView,
} from "../shapes/definitions.ts";
export type {
  HistoryEntry,
  IncidentView,
  InstanceFilter,
  ResultView,
  StartRequest,
  Status,
  VariablesPatch,
} from "../shapes/instances.ts";
export type { Listed, PageRequest } from "../shapes/paging.ts";
export type { RecoveryReport, RecoveryTrouble } from "../shapes/reports.ts";
export type {
  DeadLetterView,
  EventAnswer,
  EventConfig,
  EventRequest,
  EventTypeView,
  FailedDelivery,
  MessageAnswer,
  MessageRequest,
  ReceiptView,
  SignalAnswer,
  SignalRequest,
} from "../shapes/signals.ts";
export type {
  ActivatedTask,
  Activation,
  ActivationRequest,
  ClaimRequest,
  CompletionRequest,
  Heartbeat,
  HeartbeatRequest,
  PersonState,
  PersonView,
  TaskFailure,
  TaskFilter,
  TaskTypeView,
  TaskView,
} from "../shapes/tasks.ts";
export type { ClockAdvance } from "./operation.ts";
export type { Problem, ProblemCode, ProblemEntry } from "./problem.ts";
export type { InstanceView, WaitView } from "./wait-calls.ts";
