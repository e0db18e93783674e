import { type Duration, Token } from "aws-cdk-lib";
import { MAX_TASK_TIMEOUT_MS, type TaskManifest } from "../functions/settings.ts";
import type { TaskQueue } from "./task-queues.ts";

/** The tasks that an installation runs itself, by where their code is. */
export type TasksProps = Readonly<{
  /** Folders of handler files, each named after the type of task that it runs. */
  folders?: string | readonly string[];
  /** Functions of yours by the type of task that they run. */
  functions?: Readonly<Record<string, TaskFunction>>;
  /**
   * SQS queues of yours, or their ARNs, that tasks may be sent to where `PUT /v1/task-types/{type}`
   * says so; standard queues of the same region. The engine may send to these and to no others. One
   * that is encrypted with a key of yours must come with that key: an ARN alone does not name it.
   */
  queues?: readonly TaskQueue[];
}>;

/** A function that runs one task type; it is invoked synchronously. */
export type TaskFunction = Readonly<{
  arn: string;
  /** Its timeout; 30 seconds by default. */
  timeout?: Duration;
  /** Never run in the same invocation as another step. */
  isolate?: boolean;
  /** Claimed before it runs; when in doubt an incident is raised instead of a second run. */
  exclusive?: boolean;
}>;

/** Tasks whose code is elsewhere: what is known now, and what is known only at deployment. */
export type Elsewhere = Readonly<{
  manifest: TaskManifest;
  arns: readonly string[];
  /** By type, those that are not known while the stack is synthesised. */
  laterArns: Readonly<Record<string, string>>;
}>;

const DEFAULT_TIMEOUT_MS = 30_000;

/** The folders, as a list. */
export function foldersOf({ folders = [] }: TasksProps): readonly string[] {
  return typeof folders === "string" ? [folders] : folders;
}

/** The manifest of tasks that the user's own functions run. */
export function declaredElsewhere({ functions = {} }: TasksProps): Elsewhere {
  const all = Object.entries(functions);
  const isLater = (arn: string) => Token.isUnresolved(arn);
  return {
    manifest: Object.fromEntries(
      all.map(([type, { arn, timeout, isolate = false, exclusive = false }]) => [
        type,
        {
          arn: isLater(arn) ? "" : arn,
          timeoutMs: timeoutOf(type, timeout),
          isolate,
          exclusive,
        },
      ]),
    ),
    arns: all.map(([, { arn }]) => arn),
    laterArns: Object.fromEntries(
      all.filter(([, { arn }]) => isLater(arn)).map(([type, { arn }]) => [type, arn]),
    ),
  };
}

function timeoutOf(type: string, timeout: Duration | undefined): number {
  const timeoutMs = timeout?.toMilliseconds() ?? DEFAULT_TIMEOUT_MS;
  if (timeoutMs > 0 && timeoutMs <= MAX_TASK_TIMEOUT_MS) return timeoutMs;
  throw new Error(
    `The function that runs "${type}" cannot be waited for that long (${timeoutMs} ms). ` +
      `Use at most ${MAX_TASK_TIMEOUT_MS / 60_000} minutes, or complete the task from outside.`,
  );
}
