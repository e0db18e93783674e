/**
 * What wakes a step: a queued message. It names its instance and, by `name`, what it wants to
 * consume there; it stays queued until everything its step owes has left.
 *
 * A kind of message is a type with its entry below it: how a queue's text is checked, what a log may
 * say of it, what it is called. The lists at the end make the unions; the compiler then asks for the
 * handler in lib/engine/handlers.ts.
 */

import type { Variables } from "../definition/json.ts";
import type { Instant } from "../definition/time/instant.ts";
import type { Fact } from "../kernel/fact.ts";
import type { Parent } from "../kernel/instance.ts";
import { anyFact, startedFact } from "./fact-shape.ts";
import { FAN_OUT_KINDS } from "./fan-out-message.ts";
import { ADDRESSED, type Addressed, kindOf, type MessageOfKind } from "./message-kind.ts";
import { anyOf, count, instant, listOf, maybe, oneOf, record, text, variables } from "./shape.ts";

export type {
  BroadcastMessage,
  CancelMembersMessage,
  FanOutMessage,
  MembersMessage,
  MissedMessage,
  OfferMessage,
  PagedRow,
  PageMessage,
  PokeMessage,
  ShardMessage,
} from "./fan-out-message.ts";

/** How a mailbox remembers a message: until when, and by a fingerprint of what it carried. */
export type RememberedMessage = Readonly<{ mid: string; until: Instant; body: string }>;

const remembered = record<RememberedMessage>({ mid: text, until: instant, body: text });

/** Every input of the first decision, so that whoever comes first creates the same instance. */
export type CarriedStart = Readonly<{
  definition: Readonly<{ id: string; version: number; hash: string }>;
  now: Instant;
  /** Fingerprint of what the caller asked for, without the instant. */
  request: string;
  fact: Extract<Fact, { kind: "started" }>;
  businessKey?: string;
  tags?: readonly string[];
  parent?: Parent;
  /** Over how many shards the lists of the definition were spread; absent: one. */
  shards?: number;
  /** Of one that a signal begins: only while the head of the definition has this version. */
  head?: number;
  /**
   * Of one that a timer begins: which occurrence, and when it fired. The commit that creates counts
   * it, so that it happens once, and only while the start event is armed.
   */
  timer?: Readonly<{ run: number; n: number; at: Instant }>;
  /** The message that begins the instance: its mailbox remembers it in the commit that creates. */
  mail?: Readonly<{
    name: string;
    key: string;
    id: RememberedMessage;
    /** Of the mailbox, when nobody waited there; absent: the message is kept there for this start. */
    base?: number;
  }>;
}>;

const carriedStart = record<CarriedStart>({
  definition: record({ id: text, version: count, hash: text }),
  now: instant,
  request: text,
  fact: startedFact,
  businessKey: maybe(text),
  tags: maybe(listOf(text)),
  parent: maybe(
    record<Parent>({
      instanceId: text,
      ticket: text,
      depth: count,
      catches: maybe(anyOf(oneOf("all"), listOf(text))),
      detached: maybe(oneOf(true)),
    }),
  ),
  shards: maybe(count),
  head: maybe(count),
  timer: maybe(record({ run: count, n: count, at: instant })),
  mail: maybe(
    record<NonNullable<CarriedStart["mail"]>>({
      name: text,
      key: text,
      id: remembered,
      base: maybe(count),
    }),
  ),
});

/** Run this attempt of a task. With `start` inside, the instance may not exist yet. */
export type TaskMessage = Addressed &
  Readonly<{
    kind: "task";
    ticket: string;
    attempt: number;
    type: string;
    notBefore?: Instant;
    /** Who handed the task back last, before it was sent again: messages from before are void. */
    handedBackBy?: string;
    start?: CarriedStart;
    /** Of a member of a family, which has no other place for it: attempts left, this one included. */
    retries?: number;
  }>;

const TASK = kindOf<TaskMessage>("task", {
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

const TIMER = kindOf<TimerMessage>("timer", {
  shape: { ...ADDRESSED, ticket: text },
  logged: ["tenant", "instanceId", "ticket"],
  label: ({ ticket, instanceId }) => `timer ${ticket} of instance ${instanceId}`,
});

/** An occurrence of a start event by timer may be due; `run` counts how often it was armed anew. */
export type TimerStartMessage = Readonly<{
  kind: "timer-start";
  tenant: string;
  definitionId: string;
  hash: string;
  element: string;
  run: number;
  n: number;
}>;

const TIMER_START = kindOf<TimerStartMessage>("timer-start", {
  shape: { tenant: text, definitionId: text, hash: text, element: text, run: count, n: count },
  logged: ["tenant", "definitionId", "element", "run", "n"],
  label: ({ element, definitionId }) => `timer start ${element} of definition ${definitionId}`,
});

/** A fact that waits its turn, because its instance is contended or its door cannot redeliver. */
export type ParkedMessage = Addressed &
  Readonly<{
    kind: "parked";
    name: string;
    fact: Fact;
    /** Of a door's request without a ticket: how its instance remembers it. */
    request?: ParkedRequest;
    start?: CarriedStart;
  }>;

const PARKED = kindOf<ParkedMessage>("parked", {
  shape: {
    ...ADDRESSED,
    name: text,
    fact: anyFact,
    request: maybe(record({ id: text, body: text, answer: count, base: count })),
    start: maybe(carriedStart),
  },
  logged: ["tenant", "instanceId", "name", "fact"],
  label: ({ fact, name, instanceId }) => `parked ${fact.kind} ${name} of instance ${instanceId}`,
});

/** `base` is the version that the door read when it parked the request. */
export type ParkedRequest = Readonly<{
  id: string;
  body: string;
  answer: number;
  base: number;
}>;

/** Somebody must look whether `name` still owes something. */
export type OwedMessage = Addressed & Readonly<{ kind: "owed"; name: string }>;

const OWED = kindOf<OwedMessage>("owed", {
  shape: { ...ADDRESSED, name: text },
  logged: ["tenant", "instanceId", "name"],
  label: ({ name, instanceId }) => `what is owed by ${name} of instance ${instanceId}`,
});

/**
 * Something may have come for an open wait: a message in its mailbox, a kept event. Whoever gets
 * this looks, and then looks whether `name` still owes something.
 */
export type LookMessage = Addressed &
  Readonly<{
    kind: "look";
    name: string;
    ticket: string;
    /** A message that is being published: it is for this wait, unless its mailbox knows it already. */
    post?: Post;
    /** Parked by a call that is about to take the step itself, from this version of the instance. */
    call?: Readonly<{ base: number; at: Instant }>;
  }>;

/** A message on its way to its mailbox. */
export type Post = Readonly<{
  address: Readonly<{ name: string; key: string }>;
  message: Readonly<{ mid: string; payload: Variables; expiresAt: Instant }>;
  id: RememberedMessage;
}>;

const LOOK = kindOf<LookMessage>("look", {
  shape: {
    ...ADDRESSED,
    name: text,
    ticket: text,
    post: maybe(
      record<Post>({
        address: record({ name: text, key: text }),
        message: record({ mid: text, payload: variables, expiresAt: instant }),
        id: remembered,
      }),
    ),
    call: maybe(record({ base: count, at: instant })),
  },
  logged: ["tenant", "instanceId", "name"],
  label: ({ ticket, instanceId }) => `look at what came for ${ticket} of instance ${instanceId}`,
});

/** Of one instance: what its queue holds to be taken together. */
export const PARKED_KINDS = [PARKED, OWED, LOOK] as const;
export type AnyParked = MessageOfKind<(typeof PARKED_KINDS)[number]>;

/** Every kind of message that the engine handles. */
export const KINDS = [TASK, TIMER, TIMER_START, ...PARKED_KINDS, ...FAN_OUT_KINDS] as const;
export type Message = MessageOfKind<(typeof KINDS)[number]>;

/** Who handles a message: its id, and until when others should leave its work alone. */
export type Invocation = Readonly<{
  id: string;
  until: Instant;
  /** Hosts that have the task handlers at hand may run the next short task at once. */
  mayContinue: boolean;
  /**
   * Set for a message that came too often without being done with: how it came. What it brings is
   * set aside as an incident that says so, and no code of the user runs.
   */
  aside?: string;
}>;

/** Whether the message may go, or should come back after a while. */
export type Verdict = "release" | Readonly<{ keepForMs: number }>;
