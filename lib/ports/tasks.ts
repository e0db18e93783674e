import type { Variables } from "../definition/json.ts";
import type { TaskMessage } from "./message.ts";

/** Where tasks run: a queue of attempts, and the handlers that this installation has. */
export interface Tasks {
  /** Queues an attempt, not to be delivered before its `notBefore`; at least once, in any order. */
  send(message: TaskMessage): Promise<void>;
  /** How this installation runs a type itself; undefined: it waits to be completed from outside. */
  handlerOf(type: string): TaskHandler | undefined;
  /** Every type that this installation runs itself. */
  types(): readonly string[];
  /** Whether this host holds a message for the task, queued or running; durable queues cannot know. */
  holds(instanceId: string, ticket: string): boolean;
  /** The task was interrupted: tells its handler to stop; best effort. */
  stop(instanceId: string, ticket: string): void;
}

export type TaskHandler = Readonly<{
  timeoutMs: number;
  /** Pause before the attempt that follows `attempt`. */
  backoffMs?: (attempt: number) => number;
  /** Never run in the same invocation as another step. */
  isolate: boolean;
  /** Claimed before it runs; in doubt an incident is raised instead of running again. */
  exclusive: boolean;
  /** Never throws: a failure is an outcome. */
  run(input: Variables, about: TaskAttempt): Promise<TaskOutcome>;
}>;

export type TaskAttempt = Readonly<{
  taskId: string;
  instanceId: string;
  ticket: string;
  element: string;
  /** The same over all attempts. */
  idempotencyKey: string;
  attempt: number;
  headers: Readonly<Record<string, string>>;
}>;

export type TaskOutcome =
  | Readonly<{ kind: "completed"; variables: Variables }>
  | Readonly<{
      kind: "failed";
      message: string;
      code?: string;
      variables?: Variables;
      /** Attempts that are left; one less than before unless said. */
      retries?: number;
    }>
  /** The attempt did not begin, for certain: it is tried again later, and none is used up. */
  | Readonly<{ kind: "not-run"; retryAfterMs: number }>;
