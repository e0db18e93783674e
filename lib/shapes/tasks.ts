/** What those who do tasks send and see: people who claim them, workers that lock them. */
import type { Json, Variables } from "../definition/json.ts";
import type { Form } from "../definition/user-task.ts";

export type TaskFilter = Readonly<{
  type?: string;
  instanceId?: string;
  // The others find tasks that people do.
  assignee?: string;
  candidateUser?: string;
  candidateGroup?: string;
  state?: PersonState;
  /** Its due date has passed. */
  overdue?: true;
}>;

export type TaskView = Readonly<{
  taskId: string;
  type: string;
  instanceId: string;
  element: string;
  definition: Readonly<{ id: string; version: number }>;
  variables: Variables;
  /** Of a workflow in code: any JSON. */
  input?: Json;
  headers: Readonly<Record<string, string>>;
  attempt: number;
  retries: number;
  idempotencyKey: string;
  createdAt: string;
  /** The engine runs this task itself. */
  runsHere: boolean;
  /** Of a task that a person does: variables that must come with the completion. */
  requiredOutputs?: readonly string[];
  /** As the definition says it; `body` is there when one task is asked for. */
  form?: Form & Readonly<{ body?: Json }>;
}> &
  Partial<PersonView>;

/** Not claimed yet, or claimed by a person. */
export type PersonState = "created" | "claimed";

/** Who has a task that a person does, who may have it, and until when. */
export type PersonView = Readonly<{
  state: PersonState;
  assignee?: string;
  candidateUsers: readonly string[];
  candidateGroups: readonly string[];
  dueDate?: string;
  followUpDate?: string;
  /** From 0 to 100. */
  priority: number;
}>;

/** `groups`: those that the user is known to be in; left out, the caller answers for that. */
export type ClaimRequest = Readonly<{ user: string; groups?: readonly string[] }>;

/** What completes a task; `user` for one that a person has claimed, `lockToken` for a worker. */
export type CompletionRequest = Readonly<{
  variables?: Variables;
  /** For a workflow in code: any JSON, instead of variables. */
  result?: Json;
  user?: string;
  lockToken?: string;
}>;

export type TaskFailure = Readonly<{
  /** Of the worker's last activation or heartbeat. */
  lockToken?: string;
  message: string;
  /** A business error that boundary events can catch; without it a retry is used up. */
  code?: string;
  retries?: number;
  /** A duration. */
  retryAfter?: string;
  variables?: Variables;
}>;

/** `waitSeconds`: how long the poll may wait for a first task. */
export type ActivationRequest = Readonly<{
  type: string;
  max: number;
  lockSeconds: number;
  /** Who asks, for those who look. */
  worker: string;
  waitSeconds?: number;
}>;

/** With `retryAfter` there was nothing, and asking before that many seconds is for nothing. */
export type Activation = Readonly<{ tasks: readonly ActivatedTask[]; retryAfter?: number }>;

export type ActivatedTask = Omit<TaskView, "createdAt" | "runsHere"> &
  Readonly<{
    /** Names the lock: heartbeats give a new one, and a report sends the last. */
    lockToken: string;
    lockedUntil: string;
  }>;

export type HeartbeatRequest = Readonly<{ lockToken: string; lockSeconds?: number }>;

/** `cancelled`: the result is not needed any more. */
export type Heartbeat = Readonly<{ lockToken: string; lockedUntil: string } | { cancelled: true }>;

export type TaskTypeView = Readonly<{ type: string; queueArn: string | null; shards: number }>;
