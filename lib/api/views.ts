/** The requests and answers of the API by name, for those who know it only over HTTP. */
export type { Notation } from "../definition/definition.ts";
export type { Diagnostic } from "../definition/diagnostic.ts";
export type { Json, Variables } from "../definition/json.ts";
export type {
  ClaimRequest,
  DeadLetterView,
  DefinitionView,
  DeployedView,
  EventAnswer,
  EventConfig,
  EventRequest,
  EventTypeView,
  FailedDelivery,
  HistoryEntry,
  IncidentView,
  InstanceFilter,
  InstanceView,
  Listed,
  MessageAnswer,
  MessageRequest,
  PageRequest,
  PersonState,
  PersonView,
  ReceiptView,
  RecoveryReport,
  ResultView,
  SignalAnswer,
  SignalRequest,
  StartRequest,
  Status,
  TaskFailure,
  TaskFilter,
  TaskView,
  WaitView,
} from "../engine/engine.ts";
export type { ClockAdvance } from "./operation.ts";
export type { Problem, ProblemCode, ProblemEntry } from "./problem.ts";
