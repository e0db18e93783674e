import * as z from "zod/mini";
import type { Fact } from "../kernel/fact.ts";
import { count, instant, json, maybe, schemaOf, text, variables } from "./schema.ts";

/** The fact that a start carries. */
export const startedFact = schemaOf<Extract<Fact, { kind: "started" }>>()(
  z.strictObject({
    kind: z.literal("started"),
    input: z.strictObject({
      variables,
      input: maybe(json),
      isBare: maybe(z.literal(true)),
      deadline: maybe(instant),
      trigger: maybe(z.strictObject({ element: text, payload: variables })),
    }),
  }),
);

/** Where an error came from, as far as it is known. */
const traced = { name: maybe(text), stack: maybe(text) };

/** Every fact that may be parked. */
export const anyFact = schemaOf<Fact>()(
  z.discriminatedUnion("kind", [
    startedFact,
    z.strictObject({
      kind: z.literal("task-completed"),
      ticket: text,
      variables,
      result: maybe(json),
    }),
    z.strictObject({
      kind: z.literal("task-failed"),
      ticket: text,
      attempt: count,
      message: text,
      code: maybe(text),
      retries: maybe(count),
      retryAfterMs: maybe(count),
      variables: maybe(variables),
      ...traced,
    }),
    z.strictObject({ kind: z.literal("task-claimed"), ticket: text, attempt: count, claim: text }),
    z.strictObject({
      kind: z.literal("task-assigned"),
      ticket: text,
      turn: count,
      assignee: maybe(text),
    }),
    z.strictObject({ kind: z.literal("timer-due"), ticket: text }),
    z.strictObject({
      kind: z.literal("signal-received"),
      ticket: text,
      broadcastId: text,
      seq: count,
      payload: variables,
    }),
    z.strictObject({
      kind: z.literal("message-received"),
      ticket: text,
      messageId: text,
      payload: variables,
    }),
    z.strictObject({
      kind: z.literal("event-received"),
      ticket: text,
      eventId: text,
      seq: maybe(count),
      payload: json,
    }),
    z.strictObject({
      kind: z.literal("child-ended"),
      ticket: text,
      childId: text,
      status: z.literal(["succeeded", "failed", "cancelled"]),
      terminationKind: z.literal(["success", "failure", "cancel", "timeout"]),
      result: maybe(json),
      error: maybe(
        z.strictObject({
          code: maybe(text),
          message: text,
          element: maybe(text),
          ...traced,
          variables: maybe(variables),
        }),
      ),
    }),
    z.strictObject({ kind: z.literal("child-started"), ticket: text, childId: text }),
    z.strictObject({ kind: z.literal("child-refused"), ticket: text, message: text }),
    z.strictObject({ kind: z.literal("continued"), ticket: text }),
    z.strictObject({
      kind: z.literal("incident-resolved"),
      ticket: text,
      variables: maybe(variables),
      retries: maybe(count),
    }),
    z.strictObject({
      kind: z.literal("event-sent"),
      event: z.strictObject({
        id: text,
        name: text,
        payload: json,
        at: instant,
        expiresAt: instant,
        onTargetTerminated: z.literal(["discard", "broadcast", "deadLetter"]),
      }),
    }),
    z.strictObject({ kind: z.literal("cancel-requested"), reason: maybe(text) }),
    z.strictObject({ kind: z.literal("variables-patched"), variables, scope: maybe(text) }),
  ]),
);
