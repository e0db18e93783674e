/**
 * What triggers a step: a queued message. It names its instance and, by `name`, what it consumes
 * there; it stays queued until everything its step owes has been sent.
 *
 * A kind of message is a type with its entry below it: its shape, the fields that may be logged,
 * and its label in reports. The lists at the end make the unions; the compiler then asks for the
 * handler in lib/engine/handlers.ts.
 */

import * as z from "zod/mini";
import type { Instant } from "../definition/time/instant.ts";
import type { Fact } from "../kernel/fact.ts";
import type { Parent } from "../kernel/instance.ts";
import type { Address, Buffered, Remembered } from "../kernel/mailbox.ts";
import { anyFact, startedFact } from "./fact-schema.ts";
import { ADDRESSED, type Addressed, kindOf, type MessageOfKind } from "./message-kind.ts";
import { count, instant, listOf, maybe, schemaOf, text, variables } from "./schema.ts";
import { WORK_KINDS } from "./work-message.ts";

export type {
  BroadcastMessage,
  CancelMembersMessage,
  MembersMessage,
  MissedMessage,
  OfferMessage,
  PagedRow,
  PageMessage,
  PokeMessage,
  ShardMessage,
  WorkMessage,
} from "./work-message.ts";

const remembered = schemaOf<Remembered>()(
  z.strictObject({ mid: text, until: instant, body: text }),
);

/** Every input of the first decision, so that every attempt creates the same instance. */
export type CarriedStart = Readonly<{
  definition: Readonly<{ id: string; version: number; hash: string }>;
  now: Instant;
  /** Fingerprint of the request, without the instant. */
  request: string;
  fact: Extract<Fact, { kind: "started" }>;
  businessKey?: string;
  tags?: readonly string[];
  parent?: Parent;
  /** Over how many shards the lists of the definition were spread; absent: one. */
  shards?: number;
  /** Of an instance that a signal starts: only while the head of the definition has this version. */
  head?: number;
  /**
   * Of an instance that a timer starts: which occurrence, and when it fired. The commit that
   * creates the instance counts it, so that it happens once, and only while the start event is
   * armed.
   */
  timer?: Readonly<{ run: number; n: number; at: Instant }>;
  /** The message that starts the instance: its mailbox remembers it in the commit that creates it. */
  mail?: Readonly<{
    name: string;
    key: string;
    id: Remembered;
    /** The version of the mailbox when it had no waits; absent: it keeps the message for this start. */
    base?: number;
  }>;
}>;

const carriedStart = schemaOf<CarriedStart>()(
  z.strictObject({
    definition: z.strictObject({ id: text, version: count, hash: text }),
    now: instant,
    request: text,
    fact: startedFact,
    businessKey: maybe(text),
    tags: maybe(listOf(text)),
    parent: maybe(
      z.strictObject({
        instanceId: text,
        ticket: text,
        depth: count,
        catches: maybe(z.union([z.literal("all"), listOf(text)])),
        detached: maybe(z.literal(true)),
      }),
    ),
    shards: maybe(count),
    head: maybe(count),
    timer: maybe(z.strictObject({ run: count, n: count, at: instant })),
    mail: maybe(
      z.strictObject({
        name: text,
        key: text,
        id: remembered,
        base: maybe(count),
      }),
    ),
  }),
);

/** Run this attempt of a task. With `start` inside, the instance may not exist yet. */
export type TaskMessage = Addressed &
  Readonly<{
    kind: "task";
    ticket: string;
    attempt: number;
    type: string;
    notBefore?: Instant;
    /**
     * Identifies the last release of the task before it was sent again: earlier messages are void.
     */
    handedBackBy?: string;
    start?: CarriedStart;
    /** Of an item of a batch, which has no other place for it: attempts left, this one included. */
    retries?: number;
  }>;

const TASK = kindOf<TaskMessage>()("task", {
  shape: {
    ...ADDRESSED,
    ticket: text,
    attempt: count,
    type: text,
    notBefore: maybe(instant),
    handedBackBy: maybe(text),
    start: maybe(carriedStart),
    retries: maybe(count),
  },
  logged: ["tenant", "instanceId", "ticket", "attempt", "type"],
  label: ({ type, instanceId }) => `task ${type} of instance ${instanceId}`,
});

/** A timer may be due. */
export type TimerMessage = Addressed & Readonly<{ kind: "timer"; ticket: string }>;

const TIMER = kindOf<TimerMessage>()("timer", {
  shape: { ...ADDRESSED, ticket: text },
  logged: ["tenant", "instanceId", "ticket"],
  label: ({ ticket, instanceId }) => `timer ${ticket} of instance ${instanceId}`,
});

/** An occurrence of a timer start event may be due; `run` counts how often it was armed again. */
export type TimerStartMessage = Readonly<{
  kind: "timer-start";
  tenant: string;
  definitionId: string;
  hash: string;
  element: string;
  run: number;
  n: number;
}>;

const TIMER_START = kindOf<TimerStartMessage>()("timer-start", {
  shape: { tenant: text, definitionId: text, hash: text, element: text, run: count, n: count },
  logged: ["tenant", "definitionId", "element", "run", "n"],
  label: ({ element, definitionId }) => `timer start ${element} of definition ${definitionId}`,
});

/** A fact that is queued because its instance is contended or its request cannot be redelivered. */
export type ParkedMessage = Addressed &
  Readonly<{
    kind: "parked";
    name: string;
    fact: Fact;
    /** Of a request without a ticket: how its instance remembers it. */
    request?: ParkedRequest;
    start?: CarriedStart;
  }>;

const PARKED = kindOf<ParkedMessage>()("parked", {
  shape: {
    ...ADDRESSED,
    name: text,
    fact: anyFact,
    request: maybe(z.strictObject({ id: text, body: text, answer: count, base: count })),
    start: maybe(carriedStart),
  },
  logged: ["tenant", "instanceId", "name", "fact"],
  label: ({ fact, name, instanceId }) => `parked ${fact.kind} ${name} of instance ${instanceId}`,
});

/** `base` is the version of the instance when the request was parked. */
export type ParkedRequest = Readonly<{
  id: string;
  body: string;
  answer: number;
  base: number;
}>;

/** Re-check whether `name` still owes something. */
export type OwedMessage = Addressed & Readonly<{ kind: "owed"; name: string }>;

const OWED = kindOf<OwedMessage>()("owed", {
  shape: { ...ADDRESSED, name: text },
  logged: ["tenant", "instanceId", "name"],
  label: ({ name, instanceId }) => `what is owed by ${name} of instance ${instanceId}`,
});

/**
 * Something may have arrived for an open wait: a message in its mailbox, a kept event. The handler
 * re-checks the wait, and then whether `name` still owes something.
 */
export type LookMessage = Addressed &
  Readonly<{
    kind: "look";
    name: string;
    ticket: string;
    /** A message that is being published: it is for this wait, unless its mailbox has it already. */
    post?: Post;
    /** Parked by a request that is about to run the step itself, from this version of the instance. */
    call?: Readonly<{ base: number; at: Instant }>;
  }>;

/** A message on its way to its mailbox. */
export type Post = Readonly<{
  address: Address;
  message: Omit<Buffered, "for" | "taken">;
  id: Remembered;
}>;

const LOOK = kindOf<LookMessage>()("look", {
  shape: {
    ...ADDRESSED,
    name: text,
    ticket: text,
    post: maybe(
      z.strictObject({
        address: z.strictObject({ name: text, key: text }),
        message: z.strictObject({ mid: text, payload: variables, expiresAt: instant }),
        id: remembered,
      }),
    ),
    call: maybe(z.strictObject({ base: count, at: instant })),
  },
  logged: ["tenant", "instanceId", "name"],
  label: ({ ticket, instanceId }) => `re-check of ${ticket} of instance ${instanceId}`,
});

/** Messages of the parking queue: those of one instance are handled together. */
export const PARKED_KINDS = [PARKED, OWED, LOOK] as const;
export type AnyParked = MessageOfKind<(typeof PARKED_KINDS)[number]>;

/** Every kind of message that the engine handles. */
export const KINDS = [TASK, TIMER, TIMER_START, ...PARKED_KINDS, ...WORK_KINDS] as const;
export type Message = MessageOfKind<(typeof KINDS)[number]>;

/** The invocation that handles a message: its id, and when its lease expires. */
export type Invocation = Readonly<{
  id: string;
  until: Instant;
  /** Whether it may run the next short task itself, where the host has the task handlers. */
  mayContinue: boolean;
  /**
   * Set for a message that was delivered too often without being finished: how it was delivered.
   * Its fact is set aside as an incident that says so, and no user code runs.
   */
  aside?: string;
}>;

/** Delete the message, or deliver it again after a while. */
export type Verdict = "release" | Readonly<{ keepForMs: number }>;
