/** `fermata-engine/embedded`: the whole engine in one Node process. */

export type { InstanceView, WaitView } from "../api/wait-calls.ts";
export { EngineError, type ErrorCode } from "../ports/engine-error.ts";
export type {
  DefinitionView,
  Deployment,
  ScheduleView,
  Source,
} from "../shapes/definitions.ts";
export type {
  HistoryEntry,
  IncidentView,
  InstanceFilter,
  ResultView,
  StartRequest,
} from "../shapes/instances.ts";
export type { Listed } from "../shapes/paging.ts";
export type { RecoveryReport, RecoveryTrouble } from "../shapes/reports.ts";
export type {
  DeadLetterView,
  EventAnswer,
  EventConfig,
  EventRequest,
  EventTypeView,
  FailedDelivery,
  MessageAnswer,
  ReceiptView,
  SignalAnswer,
} from "../shapes/signals.ts";
export type {
  ActivatedTask,
  Activation,
  ActivationRequest,
  Heartbeat,
  HeartbeatRequest,
  TaskFailure,
  TaskFilter,
  TaskTypeView,
  TaskView,
} from "../shapes/tasks.ts";
export { type ClockAdvance, type EmbeddedEngine, workerDoor } from "./embedded-engine.ts";
export type { HttpServer } from "./http-server.ts";
export type { HttpOptions } from "./http-task.ts";
export type { MessageInput } from "./library-calls.ts";
export { openEngine } from "./open-engine.ts";
export type { EmbeddedOptions, TaskOptions } from "./options.ts";
export type { Reload } from "./reload.ts";
export { type ServeOptions, serveEngine } from "./serve-engine.ts";
export type { TrailNews } from "./trail-listener.ts";
export type { StartedInstance, TypedResult, TypedStart } from "./typed-workflows.ts";
