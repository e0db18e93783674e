// What the package offers to CDK apps as "fermata-engine/cdk".

export type { Auth, Cors, Throttle } from "./api-access.ts";
export type { FunctionRole } from "./constructs/engine-functions.ts";
export type { Throughput } from "./constructs/instance-table.ts";
export { Fermata, type FermataProps } from "./fermata.ts";
export type { HttpTaskProps, HttpTaskSecret } from "./http-tasks.ts";
export type { AlarmOptions } from "./observability/observability.ts";
export type { Verb } from "./routes.ts";
export type { TaskQueue } from "./task-queues.ts";
export type { TaskFunction, TasksProps } from "./tasks.ts";
