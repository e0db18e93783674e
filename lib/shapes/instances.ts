/** What starting, finding and patching instances takes, and what readers see of them. */
import type { Json, Variables } from "../definition/json.ts";
import type { Ended, TerminationKind } from "../kernel/ending.ts";
import type { PersonView } from "./tasks.ts";

export type StartRequest = Readonly<{
  variables?: Variables;
  /** Of a workflow in code: any JSON, instead of variables. */
  input?: Json;
  instanceId?: string;
  businessKey?: string;
  version?: number;
  tags?: readonly string[];
  /** A duration from now, or an instant. */
  deadline?: string;
}>;

/** Without a scope, variables of the process; else of the one open occurrence of that element. */
export type VariablesPatch = Readonly<{ variables: Variables; scope?: string }>;

export type InstanceFilter = Readonly<{
  definition?: string;
  status?: Status;
  businessKey?: string;
  /** One of their tags. */
  tag?: string;
  incident?: true;
  startedAfter?: string;
  startedBefore?: string;
}>;

export type Status = "running" | "suspended" | Ended;

export type InstanceView = Readonly<{
  instanceId: string;
  definition: Readonly<{ id: string; version: number }>;
  status: Status;
  terminationKind?: TerminationKind;
  businessKey?: string;
  tags?: readonly string[];
  /** The instance that called it, and whether that waits for its end. */
  parent?: Readonly<{ instanceId: string; awaited: boolean }>;
  variables: Variables;
  /** Of a workflow in code: what it was started with. */
  input?: Json;
  activeElements: readonly string[];
  /** How often each of them is open: items of a loop and paths that meet there count separately. */
  tokens: readonly Readonly<{ element: string; count: number }>[];
  completedElements: readonly string[];
  waits: readonly WaitView[];
  incidents: readonly IncidentView[];
  /** Conditions that will stop the instance unless someone acts. */
  warnings?: readonly string[];
  startedAt: string;
  updatedAt: string;
  endedAt?: string;
  result?: Json;
  error?: FailureView;
}>;

/** What an instance failed with; name and stack where the error was reported with them. */
export type FailureView = Readonly<{
  code?: string;
  message: string;
  element?: string;
  name?: string;
  stack?: string;
}>;

export type IncidentView = Readonly<{
  incidentId: string;
  type: string;
  element: string;
  message: string;
  name?: string;
  stack?: string;
  /** Of a workflow in code: the operation that it is about. */
  at?: Readonly<{ file: string; line: number; column: number }>;
  raisedAt: string;
}>;

/** Why an instance does not move, and the call that would move it, where there is one. */
export type WaitView = Readonly<{
  kind: "task" | "timer" | "signal" | "message" | "event" | "child" | "continuation" | "incident";
  element: string;
  since: string;
  dueAt?: string;
  /** Of a signal, a message or an event. */
  name?: string;
  /** Of a message; empty where it has none. */
  correlationKey?: string;
  /**
   * Of a child: the process that was called, and the instance that runs it, once it is there. Of a
   * multi-instance batch the first that is open.
   */
  process?: string;
  childInstanceId?: string;
  taskType?: string;
  taskId?: string;
  /** Of a multi-instance batch: how many items it began with, and how many of them are open. */
  members?: Readonly<{ size: number; open: number }>;
  /** The engine runs this task itself. */
  runsHere?: boolean;
  incidentId?: string;
  /** Of a workflow in code: where the operation is called. */
  at?: Readonly<{ file: string; line: number; column: number }>;
  /** The call that gives a task to a person, while it is not claimed. */
  claimWith?: WaitCall;
  wakeWith?: WaitCall;
}> &
  Partial<PersonView>;

/** A call that would move a wait: which one, of what, and the body that it takes. */
export type WaitCall = Readonly<
  | { call: "claimTask" | "completeTask"; taskId: string; body: Json }
  /** Each of many tasks is completed by itself: this call lists them. */
  | { call: "tasks"; instanceId: string }
  | { call: "resolveIncident"; instanceId: string; incidentId: string; body: Json }
  | { call: "signal" | "message" | "event" | "advanceClock"; body: Json }
>;

export type ResultView = Readonly<{
  status: Ended;
  terminationKind: TerminationKind;
  result?: Json;
  variables: Variables;
  error?: FailureView;
}>;

export type HistoryEntry = Readonly<{
  seq: number;
  at: string;
  type: string;
  element?: string;
  /** Which visit of the element it tells of: the same number from entering it to leaving it. */
  occurrence?: number;
  data?: Json;
}>;
