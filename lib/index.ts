/** `fermata-engine`: what task handlers may use. The engine itself is `fermata-engine/embedded`. */
export type { TaskCode, TaskContext } from "./adapters/handlers/handler-runs.ts";
export { BusinessError } from "./business-error.ts";
export type { Json, Variables } from "./definition/json.ts";
