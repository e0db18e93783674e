// The shapes of everything in lib/ports/message.ts, and of bus events. The compiler checks that
// they allow nothing else; a test checks that none is missing.

import * as z from "zod/mini";
import type { Json, Variables } from "../../definition/json.ts";
import { type Instant, isInstant } from "../../definition/time/instant.ts";
import type { Message } from "../../ports/message.ts";

const text = z.string();
const count = z.number();
const instant = z.custom<Instant>(
  (value) => typeof value === "number" && isInstant(value),
  "no instant",
);
// What JSON.parse returned is JSON: only whether it is an object is left to check.
const variables = z.custom<Variables>(isObject, "no object");
const json = z.custom<Json>((value) => value !== undefined, "absent");
const maybe = z.exactOptional;

const startInput = z.strictObject({
  variables,
  deadline: maybe(instant),
  trigger: maybe(z.strictObject({ element: text, payload: variables })),
});

const started = z.strictObject({ kind: z.literal("started"), input: startInput });

const queuedEvent = z.strictObject({
  id: text,
  name: text,
  payload: json,
  at: instant,
  expiresAt: instant,
  onTargetTerminated: z.literal(["discard", "broadcast", "deadLetter"]),
});

/** Where an error came from, as far as it was reported. */
const traced = { name: maybe(text), stack: maybe(text) };

const fact = z.discriminatedUnion("kind", [
  started,
  z.strictObject({ kind: z.literal("task-completed"), ticket: text, variables }),
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
  z.strictObject({ kind: z.literal("event-sent"), event: queuedEvent }),
  z.strictObject({ kind: z.literal("cancel-requested"), reason: maybe(text) }),
  z.strictObject({ kind: z.literal("variables-patched"), variables, scope: maybe(text) }),
]);

const rememberedMessage = z.strictObject({ mid: text, until: instant, body: text });

const parent = z.strictObject({
  instanceId: text,
  ticket: text,
  depth: count,
  catches: maybe(z.union([z.literal("all"), z.readonly(z.array(text))])),
  detached: maybe(z.literal(true)),
});

const carriedStart = z.strictObject({
  definition: z.strictObject({ id: text, version: count, hash: text }),
  now: instant,
  request: text,
  fact: started,
  businessKey: maybe(text),
  tags: maybe(z.readonly(z.array(text))),
  parent: maybe(parent),
  shards: maybe(count),
  head: maybe(count),
  timer: maybe(z.strictObject({ run: count, n: count, at: instant })),
  mail: maybe(z.strictObject({ name: text, key: text, id: rememberedMessage, base: maybe(count) })),
});

const post = z.strictObject({
  address: z.strictObject({ name: text, key: text }),
  message: z.strictObject({ mid: text, payload: variables, expiresAt: instant }),
  id: rememberedMessage,
});

const row = { sk: text, pk: text, after: count, at: instant };
const pagedRow = z.union([
  z.strictObject({ ...row, instanceId: text, ticket: text, version: count }),
  z.strictObject({ ...row, definitionId: text, element: text }),
]);

const addressed = { tenant: text, instanceId: text };
const ofBroadcast = { tenant: text, broadcastId: text };

/** Every message that the engine handles. */
export const anyMessage = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("task"),
    ...addressed,
    ticket: text,
    attempt: count,
    type: text,
    notBefore: maybe(instant),
    handedBackBy: maybe(text),
    start: maybe(carriedStart),
    retries: maybe(count),
  }),
  z.strictObject({ kind: z.literal("timer"), ...addressed, ticket: text }),
  z.strictObject({
    kind: z.literal("timer-start"),
    tenant: text,
    definitionId: text,
    hash: text,
    element: text,
    run: count,
    n: count,
  }),
  z.strictObject({
    kind: z.literal("parked"),
    ...addressed,
    name: text,
    fact,
    request: maybe(z.strictObject({ id: text, body: text, answer: count, base: count })),
    start: maybe(carriedStart),
  }),
  z.strictObject({ kind: z.literal("owed"), ...addressed, name: text }),
  z.strictObject({
    kind: z.literal("look"),
    ...addressed,
    name: text,
    ticket: text,
    post: maybe(post),
    call: maybe(z.strictObject({ base: count, at: instant })),
  }),
  // Comes over the bus with further fields for subscribers, which are dropped.
  z.object({ kind: z.literal("broadcast"), ...ofBroadcast }),
  z.strictObject({ kind: z.literal("watch"), ...ofBroadcast }),
  z.strictObject({
    kind: z.literal("shard"),
    ...ofBroadcast,
    epoch: count,
    shard: count,
    page: count,
    from: maybe(text),
    round: maybe(count),
  }),
  z.strictObject({
    kind: z.literal("page"),
    ...ofBroadcast,
    page: text,
    last: z.boolean(),
    rows: z.readonly(z.array(pagedRow)),
  }),
  z.strictObject({ kind: z.literal("missed"), ...addressed, ticket: text }),
  z.strictObject({
    kind: z.literal("members"),
    ...addressed,
    ticket: text,
    from: count,
    to: count,
  }),
  z.strictObject({
    kind: z.literal("cancel-members"),
    ...addressed,
    ticket: text,
    numbers: z.readonly(z.array(count)),
  }),
  z.strictObject({ kind: z.literal("offer"), tenant: text, name: text, seq: count }),
  z.strictObject({ kind: z.literal("poke"), tenant: text, name: text, key: text }),
]) satisfies z.ZodMiniType<Message>;

/** A body that is stored as a blob under the name `ref`. */
export const bodyReference = z.strictObject({ ref: text });

/**
 * What the rules of the bus deliver, whole as EventBridge writes it: a broadcast, or the request
 * for a signal.
 */
export const busEvent = z.discriminatedUnion("detail-type", [
  z.object({
    "detail-type": z.literal("signal-accepted"),
    source: z.literal("fermata"),
    detail: variables,
  }),
  z.object({
    id: text,
    "detail-type": z.literal("signal-requested"),
    detail: z.strictObject({ name: text, payload: maybe(variables) }),
  }),
]);

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
