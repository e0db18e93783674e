import type { Fact } from "../kernel/fact.ts";
import {
  byKind,
  count,
  instant,
  json,
  maybe,
  oneOf,
  type Rule,
  record,
  text,
  variables,
} from "./shape.ts";

type Of<Kind extends Fact["kind"]> = Extract<Fact, { kind: Kind }>;

const startInput = record<Of<"started">["input"]>({
  variables,
  deadline: maybe(instant),
  trigger: maybe(record({ element: text, payload: variables })),
});

/** The fact that a start carries. */
export const startedFact: Rule<Of<"started">> = record<Of<"started">>({
  kind: oneOf("started"),
  input: startInput,
});

/** Where an error came from, as far as it is known. */
const traced = { name: maybe(text), stack: maybe(text) };

/** Every fact that may be parked. */
export const anyFact: Rule<Fact> = byKind<Fact>({
  started: { input: startInput },
  "task-completed": { ticket: text, variables },
  "task-failed": {
    ticket: text,
    attempt: count,
    message: text,
    code: maybe(text),
    retries: maybe(count),
    retryAfterMs: maybe(count),
    variables: maybe(variables),
    ...traced,
  },
  "task-claimed": { ticket: text, attempt: count, claim: text },
  "task-assigned": { ticket: text, turn: count, assignee: maybe(text) },
  "timer-due": { ticket: text },
  "signal-received": { ticket: text, broadcastId: text, seq: count, payload: variables },
  "message-received": { ticket: text, messageId: text, payload: variables },
  "event-received": { ticket: text, eventId: text, seq: maybe(count), payload: json },
  "child-ended": {
    ticket: text,
    childId: text,
    status: oneOf("succeeded", "failed", "cancelled"),
    terminationKind: oneOf("success", "failure", "cancel", "timeout"),
    result: maybe(json),
    error: maybe(
      record<NonNullable<Of<"child-ended">["error"]>>({
        code: maybe(text),
        message: text,
        element: maybe(text),
        ...traced,
        variables: maybe(variables),
      }),
    ),
  },
  "child-started": { ticket: text, childId: text },
  "child-refused": { ticket: text, message: text },
  continued: { ticket: text },
  "incident-resolved": { ticket: text, variables: maybe(variables), retries: maybe(count) },
  "event-sent": {
    event: record({
      id: text,
      name: text,
      payload: json,
      at: instant,
      expiresAt: instant,
      onTargetTerminated: oneOf("discard", "broadcast", "deadLetter"),
    }),
  },
  "cancel-requested": { reason: maybe(text) },
  "variables-patched": { variables, scope: maybe(text) },
});
