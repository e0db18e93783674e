import type { Variables } from "../../lib/definition/json.ts";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import type { Fact } from "../../lib/kernel/fact.ts";
import type { CarriedStart, Message } from "../../lib/ports/message.ts";

/** With all optional properties: the compiler requires new ones here. */
type Full<T> = T extends { kind: unknown } ? { [K in keyof T]-?: T[K] } : never;

const at = instantFrom(Date.UTC(2030, 0, 1));
const payload: Variables = { text: 'a "b" \uFFFF \uD83D\uDE00', list: [1, null, { x: true }] };

/** One of every kind: the compiler requires new kinds here. */
const facts: { [K in Fact["kind"]]: Full<Extract<Fact, { kind: K }>> } = {
  started: {
    kind: "started",
    input: {
      variables: payload,
      input: [payload],
      isBare: true,
      deadline: at,
      trigger: { element: "start", payload },
    },
  },
  "task-completed": { kind: "task-completed", ticket: "k1.1", variables: payload, result: [1] },
  "task-failed": {
    kind: "task-failed",
    ticket: "k1.1",
    attempt: 2,
    message: "no",
    code: "NO",
    retries: 1,
    retryAfterMs: 5,
    variables: payload,
    name: "TypeError",
    stack: "TypeError: no\n  at a.ts:1",
  },
  "task-claimed": { kind: "task-claimed", ticket: "k1.1", attempt: 1, claim: "me" },
  "task-assigned": { kind: "task-assigned", ticket: "k1.1", turn: 2, assignee: "anna" },
  "timer-due": { kind: "timer-due", ticket: "t1.1" },
  "signal-received": {
    kind: "signal-received",
    ticket: "w1.1",
    broadcastId: "b1",
    seq: 7,
    payload,
  },
  "message-received": { kind: "message-received", ticket: "w1.1", messageId: "m1", payload },
  "event-received": {
    kind: "event-received",
    ticket: "w1.1",
    eventId: "e1",
    seq: 3,
    payload: null,
  },
  "child-ended": {
    kind: "child-ended",
    ticket: "c1.1",
    childId: "child-1",
    status: "failed",
    terminationKind: "failure",
    result: null,
    error: {
      code: "NO",
      message: "no",
      element: "task",
      variables: payload,
      name: "TypeError",
      stack: "TypeError: no",
    },
  },
  "child-started": { kind: "child-started", ticket: "c1.1", childId: "child-1" },
  "child-refused": { kind: "child-refused", ticket: "c1.1", message: "no such process" },
  continued: { kind: "continued", ticket: "w1.1" },
  "incident-resolved": {
    kind: "incident-resolved",
    ticket: "i1.1",
    variables: payload,
    retries: 3,
  },
  "event-sent": {
    kind: "event-sent",
    event: {
      id: "e1",
      name: "paid",
      payload: [1],
      at,
      expiresAt: at,
      onTargetTerminated: "deadLetter",
    },
  },
  "cancel-requested": { kind: "cancel-requested", reason: "no longer wanted" },
  "variables-patched": { kind: "variables-patched", variables: { rate: 2 }, scope: "check" },
};
const everyFact = Object.values(facts);

const start: Required<CarriedStart> = {
  definition: { id: "order", version: 3, hash: "h" },
  now: at,
  request: "r",
  fact: { kind: "started", input: { variables: payload } },
  businessKey: "order 42",
  tags: ["a", "b"],
  parent: { instanceId: "order-0", ticket: "c1.1", depth: 1, catches: ["NO"], detached: true },
  shards: 8,
  head: 7,
  timer: { run: 3, n: 2, at },
  mail: { name: "paid", key: "42", id: { mid: "m1", until: at, body: "b" }, base: 3 },
};

const instance = { tenant: "default", instanceId: "order-1" };
const broadcast = { tenant: "default", broadcastId: "b1" };
const row = { sk: "order-1#w1.1", pk: "default#G#approved#1.0", after: 41, at };

/** Every kind of message, with all its properties. */
export const everyMessage: readonly Full<Message>[] = [
  {
    kind: "task",
    ...instance,
    ticket: "k1.1",
    attempt: 1,
    type: "charge-card",
    notBefore: at,
    handedBackBy: "invocation-1",
    start,
    retries: 2,
  },
  { kind: "timer", ...instance, ticket: "t1.1" },
  {
    kind: "timer-start",
    tenant: "default",
    definitionId: "order",
    hash: "h",
    element: "nightly",
    run: 3,
    n: 2,
  },
  ...everyFact.map((fact) => ({
    kind: "parked" as const,
    ...instance,
    name: "k1.1",
    fact,
    request: { id: "r1", body: "b", answer: 200, base: 4 },
    start,
  })),
  { kind: "owed", ...instance, name: "k1.1/1" },
  {
    kind: "look",
    ...instance,
    name: "message-42",
    ticket: "w1.1",
    post: {
      address: { name: "paid", key: "42" },
      message: { mid: "m1", payload, expiresAt: at },
      id: { mid: "m1", until: at, body: "b" },
    },
    call: { base: 3, at },
  },
  { kind: "broadcast", ...broadcast },
  { kind: "watch", ...broadcast },
  { kind: "shard", ...broadcast, epoch: 1, shard: 0, page: 2, from: "order-7#w1.1", round: 1 },
  {
    kind: "page",
    ...broadcast,
    page: "1.0.0",
    last: true,
    rows: [
      { ...row, instanceId: "order-1", ticket: "w1.1", version: 1 },
      { ...row, definitionId: "order", element: "start" },
    ],
  },
  { kind: "missed", tenant: "default", instanceId: "order-1", ticket: "w3.1" },
  { kind: "members", ...instance, ticket: "f3.1", from: 100, to: 200 },
  { kind: "cancel-members", ...instance, ticket: "f3.1", numbers: [0, 7] },
  { kind: "offer", tenant: "default", name: "paid", seq: 7 },
  { kind: "poke", tenant: "default", name: "paid", key: "42" },
];
