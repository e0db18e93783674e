/**
 * What authors of workflows in TypeScript import, as `fermata-engine/workflow`. The same file serves
 * two worlds: inside the sandbox its functions open operations; on the host it declares steps and
 * workflows with their types.
 */
export type { EventAnswer, MessageAnswer } from "./answers.ts";
export type { InstanceFacts } from "./bridge.ts";
export { BusinessError } from "./business-error.ts";
export { all, any, type First, type Results, race } from "./composites.ts";
export type { DurationText } from "./duration-text.ts";
export {
  CancelledFailure,
  CorrelationTaken,
  TaskFailed,
  TimedOut,
  WorkflowError,
} from "./errors.ts";
export type { Jsonified } from "./jsonified.ts";
export { scope } from "./operation.ts";
export {
  delay,
  type EventToSend,
  event,
  type Fired,
  instance,
  type MessageToSend,
  message,
  now,
  publishSignal,
  random,
  sendEvent,
  sendMessage,
  signal,
  sleep,
  sleepUntil,
  task,
  uuid,
} from "./operations.ts";
export { type Step, type StepContext, step } from "./step.ts";
export type { RetryOptions, TaskOptions } from "./task-options.ts";
export { declareExports, type Workflow, workflow } from "./workflow.ts";
