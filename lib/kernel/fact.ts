import type { Json, Variables } from "../definition/json.ts";
import type { Instant } from "../definition/time/instant.ts";
import type { Ended, InstanceError, TerminationKind, Traced } from "./ending.ts";
import type { QueuedEvent } from "./queued-event.ts";

/** What reaches an instance, past tense. All but four name their ticket. */
export type Fact =
  | Readonly<{ kind: "started"; input: StartInput }>
  | TicketFact
  /** An event was sent to this instance: a wait takes it, or the inbox keeps it. */
  | Readonly<{ kind: "event-sent"; event: QueuedEvent }>
  | Readonly<{ kind: "cancel-requested"; reason?: string }>
  | VariablesPatched;

/** A caller has set variables of the process, or of the only open occurrence of this element. */
export type VariablesPatched = Readonly<{
  kind: "variables-patched";
  variables: Variables;
  scope?: string;
}>;

export type TicketFact =
  | TaskCompleted
  | TaskFailed
  | Readonly<{ kind: "task-claimed"; ticket: string; attempt: number; claim: string }>
  | TaskAssigned
  | Readonly<{ kind: "timer-due"; ticket: string }>
  | SignalReceived
  | Readonly<{ kind: "message-received"; ticket: string; messageId: string; payload: Variables }>
  | EventReceived
  | ChildFact
  | Readonly<{ kind: "continued"; ticket: string }>
  | Readonly<{
      kind: "incident-resolved";
      ticket: string;
      variables?: Variables;
      retries?: number;
    }>;

/** `result`: any JSON, for a workflow in code; without it, the variables are the result. */
export type TaskCompleted = Readonly<{
  kind: "task-completed";
  ticket: string;
  variables: Variables;
  result?: Json;
}>;

/** With a `code` it is a business error that boundaries may catch; without, it uses up a retry. */
export type TaskFailed = Traced &
  Readonly<{
    kind: "task-failed";
    ticket: string;
    attempt: number;
    message: string;
    code?: string;
    /** Attempts left after this failure, where the reporter says so. */
    retries?: number;
    retryAfterMs?: number;
    variables?: Variables;
  }>;

/** A user task is assigned or, without an assignee, unassigned. Valid only in the turn that it names. */
export type TaskAssigned = Readonly<{
  kind: "task-assigned";
  ticket: string;
  turn: number;
  assignee?: string;
}>;

/** `seq` is the place of the broadcast among all of its name. */
export type SignalReceived = Readonly<{
  kind: "signal-received";
  ticket: string;
  broadcastId: string;
  seq: number;
  payload: Variables;
}>;

/** `seq` is set when it was broadcast; events from the inbox have none. */
export type EventReceived = Readonly<{
  kind: "event-received";
  ticket: string;
  eventId: string;
  seq?: number;
  payload: Json;
}>;

/** The outcome of a call: the called process has ended, has started, or cannot start. */
export type ChildFact =
  | ChildEnded
  | Readonly<{ kind: "child-started"; ticket: string; childId: string }>
  | Readonly<{ kind: "child-refused"; ticket: string; message: string }>;

export type ChildEnded = Readonly<{
  kind: "child-ended";
  ticket: string;
  childId: string;
  status: Ended;
  terminationKind: TerminationKind;
  /** Of one that succeeded. */
  result?: Json;
  error?: InstanceError;
}>;

/** The input of the first decision; `trigger` names the start event and carries its payload. */
export type StartInput = Readonly<{
  variables: Variables;
  /** Any JSON, for a workflow in code; without it, the variables are its input. */
  input?: Json;
  /** A workflow in code was started with neither of them: its input is undefined. */
  isBare?: true;
  deadline?: Instant;
  trigger?: Readonly<{ element: string; payload: Variables }>;
}>;
