import {
  type HttpSettings,
  parseHttpSettings,
} from "../lib/adapters/handlers/http-task/http-settings.ts";
import { DEFAULT_RETENTION_MS, MIN_RETENTION_MS } from "../lib/definition/limits.ts";
import { EngineError } from "../lib/ports/engine-error.ts";

/**
 * Environment variables of the functions: their names, their types, their parsing. The construct
 * that deploys them writes these names, the functions read them, and nothing else uses them.
 */

/** The environment of a function. Optional ones are left out where the function does not need them. */
export const VARIABLES = {
  table: "FERMATA_TABLE",
  tasksQueueUrl: "FERMATA_TASKS_QUEUE_URL",
  longTasksQueueUrl: "FERMATA_LONG_TASKS_QUEUE_URL",
  timersQueueUrl: "FERMATA_TIMERS_QUEUE_URL",
  timersQueueArn: "FERMATA_TIMERS_QUEUE_ARN",
  workQueueUrl: "FERMATA_WORK_QUEUE_URL",
  stepsQueueUrl: "FERMATA_STEPS_QUEUE_URL",
  deadLettersQueueUrl: "FERMATA_DEAD_LETTERS_QUEUE_URL",
  busName: "FERMATA_BUS_NAME",
  scheduleGroup: "FERMATA_SCHEDULE_GROUP",
  scheduleRoleArn: "FERMATA_SCHEDULE_ROLE_ARN",
  scheduleDeadLettersArn: "FERMATA_SCHEDULE_DEAD_LETTERS_ARN",
  blobsBucket: "FERMATA_BLOBS_BUCKET",
  compileFunction: "FERMATA_COMPILE_FUNCTION",
  taskArns: "FERMATA_TASK_ARNS",
  taskQueues: "FERMATA_TASK_QUEUES",
  httpAllowHosts: "FERMATA_HTTP_ALLOW_HOSTS",
  httpAllowPrivate: "FERMATA_HTTP_ALLOW_PRIVATE",
  httpSecrets: "FERMATA_HTTP_SECRETS",
  tenant: "FERMATA_TENANT",
  retentionMs: "FERMATA_RETENTION_MS",
  timerBackend: "FERMATA_TIMER_BACKEND",
  timerQueueMaxSeconds: "FERMATA_TIMER_QUEUE_MAX_SECONDS",
  scheduleLeadSeconds: "FERMATA_SCHEDULE_LEAD_SECONDS",
  announces: "FERMATA_ANNOUNCES",
  metricsNamespace: "FERMATA_METRICS_NAMESPACE",
} as const;

/** What a function reads from its environment, by the names above. */
export type FunctionSettings = Readonly<{
  table: string;
  tasksQueueUrl: string;
  longTasksQueueUrl: string;
  timersQueueUrl: string;
  timersQueueArn: string;
  workQueueUrl: string;
  stepsQueueUrl: string;
  /** Where unreadable messages of this function's own queue go. */
  deadLettersQueueUrl: string;
  busName: string;
  scheduleGroup: string;
  scheduleRoleArn: string;
  scheduleDeadLettersArn: string;
  blobsBucket: string;
  compileFunction: string;
  /** By task type, in JSON: functions whose ARN is known only at deployment. */
  taskArns: Readonly<Record<string, string>>;
  /** ARNs of the user's own queues that tasks may be sent to, in JSON. */
  taskQueues: readonly string[];
  /** In JSON; absent: every public host. */
  httpAllowHosts: readonly string[] | undefined;
  /** In JSON: hosts at private addresses. */
  httpAllowPrivate: readonly string[];
  /** In JSON, by the names that references use. */
  httpSecrets: Readonly<Record<string, HttpSecret>>;
  tenant: string;
  retentionMs: number;
  timerBackend: TimerBackend;
  timerQueueMaxSeconds: number;
  scheduleLeadSeconds: number;
  /** Whether ends and incidents of instances are announced on the bus. */
  announces: boolean;
  metricsNamespace: string;
}>;

/** Parses what a function needs; one error names everything that is missing or wrong. */
export function parseSettings<N extends keyof FunctionSettings>(
  env: Readonly<Record<string, string | undefined>>,
  ...needed: readonly N[]
): Pick<FunctionSettings, N> {
  const problems: string[] = [];
  const found = needed.map((name) => {
    const value = READERS[name](env[VARIABLES[name]] || undefined);
    if (value instanceof Wrong) problems.push(`${VARIABLES[name]} ${value.problem}`);
    return [name, value] as const;
  });
  if (problems.length > 0) throw misconfigured(problems);
  return Object.fromEntries(found) as Pick<FunctionSettings, N>;
}

/** A secret of HTTP tasks: where it is, and the hosts that it may be sent to. */
export type HttpSecret = Readonly<{ arn: string; field?: string; hosts: readonly string[] }>;

/** Throws with every problem of the settings of HTTP tasks, before they are deployed. */
export function checkHttpSettings(settings: HttpSettings): void {
  parseHttpSettings(settings);
}

/** What holds timers beyond the longest delay of the timer queue. */
export type TimerBackend = "scheduler" | "wheel";

/** The tasks that this installation runs itself, known to every function; `tasks.json`. */
export type TaskManifest = Readonly<Record<string, DeclaredTask>>;

/** One task type: the settings of its handler, read when the stack was synthesised. */
export type DeclaredTask = Readonly<{
  /** Absent: its code is in `tasks.mjs` beside `run-task`. Empty: the ARN is in the environment. */
  arn?: string;
  timeoutMs: number;
  isolate: boolean;
  exclusive: boolean;
}>;

/** The longest timeout of a task that the functions run: 15 minutes with a margin. */
export const MAX_TASK_TIMEOUT_MS = 840_000;

class Wrong {
  readonly problem: string;

  constructor(problem: string) {
    this.problem = problem;
  }
}

type Readers = Readonly<{
  [N in keyof FunctionSettings]: (text: string | undefined) => FunctionSettings[N] | Wrong;
}>;

const required = (text: string | undefined) => text ?? new Wrong("is not set");

const whole =
  (otherwise: number, { min, max }: Readonly<{ min: number; max: number }>) =>
  (text: string | undefined) => {
    const value = text === undefined ? otherwise : Number(text);
    if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
    return new Wrong(`is no whole number from ${min} to ${max}`);
  };

const READERS: Readers = {
  table: required,
  tasksQueueUrl: required,
  longTasksQueueUrl: required,
  timersQueueUrl: required,
  timersQueueArn: required,
  workQueueUrl: required,
  stepsQueueUrl: required,
  deadLettersQueueUrl: required,
  busName: required,
  scheduleGroup: required,
  scheduleRoleArn: required,
  scheduleDeadLettersArn: required,
  blobsBucket: required,
  compileFunction: required,
  taskArns: (text = "{}") => parseTexts(text) ?? new Wrong("is no JSON object of texts"),
  taskQueues: (text = "[]") => parseList(text) ?? new Wrong("is no JSON list of texts"),
  httpAllowHosts: (text) =>
    text === undefined ? undefined : (parseList(text) ?? new Wrong(NO_LIST)),
  httpAllowPrivate: (text = "[]") => parseList(text) ?? new Wrong(NO_LIST),
  httpSecrets: (text = "{}") => parseHttpSecrets(text) ?? new Wrong("is no JSON of secrets"),
  tenant: (text) => text ?? "default",
  retentionMs: whole(DEFAULT_RETENTION_MS, { min: MIN_RETENTION_MS, max: 36_500 * 86_400_000 }),
  timerBackend: (text = "scheduler") =>
    text === "scheduler" || text === "wheel" ? text : new Wrong("is neither scheduler nor wheel"),
  // The longest delay of a queue is a quarter of an hour.
  timerQueueMaxSeconds: whole(900, { min: 1, max: 900 }),
  scheduleLeadSeconds: whole(90, { min: 0, max: 900 }),
  announces: (text = "false") =>
    text === "true" || text === "false" ? text === "true" : new Wrong("is neither true nor false"),
  metricsNamespace: (text) => text ?? "Fermata",
};

const NO_LIST = "is no JSON list of texts";

function parseList(text: string): readonly string[] | undefined {
  const value = parseJson(text);
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((each) => typeof each === "string");
  return texts.length === value.length ? texts : undefined;
}

/** Written by the construct, of the same version. */
function parseHttpSecrets(text: string): Readonly<Record<string, HttpSecret>> | undefined {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const isSound = Object.values(value).every(
    (each: unknown) =>
      typeof each === "object" && each !== null && "arn" in each && "hosts" in each,
  );
  return isSound ? (value as Readonly<Record<string, HttpSecret>>) : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseTexts(text: string): Readonly<Record<string, string>> | undefined {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.values(value).every((each) => typeof each === "string") ? { ...value } : undefined;
}

function misconfigured(problems: readonly string[]): EngineError {
  return new EngineError("engine/misconfigured", {
    happened: "The function cannot start, because its environment is wrong",
    where: problems.join("; "),
    fix: "Deploy it with the construct, which sets every variable that it needs.",
    details: problems.map((problem) => ({ problem })),
  });
}
