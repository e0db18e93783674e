/**
 * Environment variables of the functions: their names, their types, their parsing. The construct
 * that deploys them writes these names, the functions read them, and nobody else knows them.
 */

/** What a function is told. Optional ones are left out where the function does not need them. */
export const VARIABLES = {
  table: "FERMATA_TABLE",
  tasksQueueUrl: "FERMATA_TASKS_QUEUE_URL",
  longTasksQueueUrl: "FERMATA_LONG_TASKS_QUEUE_URL",
  timersQueueUrl: "FERMATA_TIMERS_QUEUE_URL",
  timersQueueArn: "FERMATA_TIMERS_QUEUE_ARN",
  pagesQueueUrl: "FERMATA_PAGES_QUEUE_URL",
  stepsQueueUrl: "FERMATA_STEPS_QUEUE_URL",
  busName: "FERMATA_BUS_NAME",
  scheduleGroup: "FERMATA_SCHEDULE_GROUP",
  scheduleRoleArn: "FERMATA_SCHEDULE_ROLE_ARN",
  scheduleDeadLettersArn: "FERMATA_SCHEDULE_DEAD_LETTERS_ARN",
  blobsBucket: "FERMATA_BLOBS_BUCKET",
  compileFunction: "FERMATA_COMPILE_FUNCTION",
  tenant: "FERMATA_TENANT",
  retentionMs: "FERMATA_RETENTION_MS",
  timerRoad: "FERMATA_TIMER_ROAD",
  timerQueueMaxSeconds: "FERMATA_TIMER_QUEUE_MAX_SECONDS",
  scheduleLeadSeconds: "FERMATA_SCHEDULE_LEAD_SECONDS",
  announces: "FERMATA_ANNOUNCES",
  metricsNamespace: "FERMATA_METRICS_NAMESPACE",
} as const;

/** How timers that are further away than the timer queue reaches are held. */
export type TimerRoad = "scheduler" | "wheel";

/** What every function knows of the tasks that this installation runs itself; `tasks.json`. */
export type TaskManifest = Readonly<Record<string, DeclaredTask>>;

/** One type of task: its settings are those of its handler, read when the stack was synthesised. */
export type DeclaredTask = Readonly<{
  /** Absent: its code is in `tasks.mjs` beside `run-task`. */
  arn?: string;
  timeoutMs: number;
  isolate: boolean;
  exclusive: boolean;
}>;
