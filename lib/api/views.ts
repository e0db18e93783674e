/** The requests and answers of the API by name, for those who know it only over HTTP. */
export type { Notation } from "../definition/definition.ts";
export type { Diagnostic } from "../definition/diagnostic.ts";
export type { Json, Variables } from "../definition/json.ts";
export type {
  DefinitionView,
  DeployedView,
  HistoryEntry,
  IncidentView,
  InstanceFilter,
  InstanceView,
  Listed,
  PageRequest,
  RecoveryReport,
  ResultView,
  StartRequest,
  Status,
  TaskFailure,
  TaskFilter,
  TaskView,
  WaitView,
} from "../engine/engine.ts";
export type { ClockAdvance } from "./operation.ts";
export type { Problem, ProblemCode, ProblemEntry } from "./problem.ts";
