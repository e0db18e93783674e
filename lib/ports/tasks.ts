import type { Json, Variables } from "../definition/json.ts";
import type { TaskMessage } from "./message.ts";

/** Where tasks run: a queue of attempts, and the handlers that this installation has. */
export interface Tasks {
  /** Queues an attempt, not to be delivered before its `notBefore`; at least once, in any order. */
  send(message: TaskMessage): Promise<void>;
  /** The handler of this installation for a type; undefined: workers complete its tasks. */
  handlerOf(type: string): TaskHandler | undefined;
  /** Every type that this installation runs itself. */
  types(): readonly string[];
  /**
   * Whether this host holds a message for the task, queued or running, of this attempt or of any;
   * durable queues cannot tell.
   */
  holds(instanceId: string, ticket: string, attempt?: number): boolean;
  /** The task was interrupted: tells its handler to stop; best effort. */
  stop(instanceId: string, ticket: string): void;
}

export type TaskHandler = Readonly<{
  timeoutMs: number;
  /** Pause before the attempt that follows `attempt`. */
  backoffMs?: (attempt: number) => number;
  /** Never run in the same invocation as another step. */
  isolate: boolean;
  /** Claimed before it runs; when in doubt an incident is raised instead of a second run. */
  exclusive: boolean;
  /** Never throws: a failure is an outcome. */
  run(input: Json, about: TaskAttempt): Promise<TaskOutcome>;
}>;

export type TaskAttempt = Readonly<{
  taskId: string;
  instanceId: string;
  ticket: string;
  element: string;
  /** The same for all attempts. */
  idempotencyKey: string;
  attempt: number;
  headers: Readonly<Record<string, string>>;
  /** Its result may be any JSON, not only variables. */
  takesJson?: true;
  /** Of a workflow in code: if this attempt fails, none follows. */
  isLast?: true;
}>;

export type TaskOutcome =
  /** `result`: any JSON, for an attempt that takes it. */
  | Readonly<{ kind: "completed"; variables: Variables; result?: Json }>
  | Readonly<{
      kind: "failed";
      message: string;
      code?: string;
      variables?: Variables;
      /** Attempts that are left; one fewer than before by default. */
      retries?: number;
    }>
  /** The attempt certainly did not start: it is repeated later, and no attempt is used up. */
  | Readonly<{ kind: "not-run"; retryAfterMs: number }>;
