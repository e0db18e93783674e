import type { Variables } from "../definition/json.ts";
import type { Instant } from "../definition/time/instant.ts";

/** What reaches an instance, past tense. All but two name the ticket that they want. */
export type Fact =
  | Readonly<{ kind: "started"; input: StartInput }>
  | TicketFact
  | Readonly<{ kind: "cancel-requested"; reason?: string }>;

export type TicketFact =
  | Readonly<{ kind: "task-completed"; ticket: string; variables: Variables }>
  | TaskFailed
  | Readonly<{ kind: "task-claimed"; ticket: string; attempt: number; claim: string }>
  | Readonly<{ kind: "timer-due"; ticket: string }>
  | Readonly<{ kind: "continued"; ticket: string }>
  | Readonly<{
      kind: "incident-resolved";
      ticket: string;
      variables?: Variables;
      retries?: number;
    }>;

/** With a `code` it is a business error that boundaries may catch; without, it uses up a retry. */
export type TaskFailed = Readonly<{
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

/** What a start hands to the first decision. */
export type StartInput = Readonly<{ variables: Variables; deadline?: Instant }>;
