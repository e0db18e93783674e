/** `fermata-engine/embedded`: the whole engine in one Node process. */
export type {
  ActivatedTask,
  Activation,
  ActivationRequest,
  DeadLetterView,
  DefinitionView,
  Deployment,
  EventAnswer,
  EventConfig,
  EventRequest,
  EventTypeView,
  FailedDelivery,
  Heartbeat,
  HeartbeatRequest,
  HistoryEntry,
  IncidentView,
  InstanceFilter,
  InstanceView,
  Listed,
  MessageAnswer,
  ReceiptView,
  RecoveryReport,
  RecoveryTrouble,
  ResultView,
  ScheduleView,
  SignalAnswer,
  Source,
  StartRequest,
  TaskFailure,
  TaskFilter,
  TaskTypeView,
  TaskView,
  WaitView,
} from "../engine/engine.ts";
export { EngineError, type ErrorCode } from "../ports/engine-error.ts";
export type { HttpServer } from "./http-server.ts";
export type { HttpOptions } from "./http-task.ts";
export type { MessageInput } from "./library-calls.ts";
export { type ClockAdvance, type EmbeddedEngine, workerDoor } from "./library-door.ts";
export { openEngine } from "./open-engine.ts";
export type { EmbeddedOptions, TaskOptions } from "./options.ts";
export { type ServeOptions, serveEngine } from "./serve-engine.ts";
export type { TrailNews } from "./trail-teller.ts";
