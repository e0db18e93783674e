/**
 * What triggers a step: a queued message. It names its instance and, by `name`, what it consumes
 * there; it stays queued until everything its step owes has been sent.
 */

import type { Variables } from "../definition/json.ts";
import type { Instant } from "../definition/time/instant.ts";
import type { Fact } from "../kernel/fact.ts";
import type { Parent } from "../kernel/instance.ts";

export type Message =
  | TaskMessage
  | TimerMessage
  | TimerStartMessage
  | ParkedMessage
  | OwedMessage
  | LookMessage
  | WorkMessage;

type Addressed = Readonly<{ tenant: string; instanceId: string }>;

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

/** A timer may be due. */
export type TimerMessage = Addressed & Readonly<{ kind: "timer"; ticket: string }>;

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

/** Re-check whether `name` still owes something. */
export type OwedMessage = Addressed & Readonly<{ kind: "owed"; name: string }>;

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
  address: Readonly<{ name: string; key: string }>;
  message: Readonly<{ mid: string; payload: Variables; expiresAt: Instant }>;
  id: RememberedMessage;
}>;

/** How a mailbox remembers a message: until when, and a fingerprint of its content. */
export type RememberedMessage = Readonly<{ mid: string; until: Instant; body: string }>;

/** What the work queue carries; each message is a trigger of its own. */
export type WorkMessage =
  | BroadcastMessage
  | WatchMessage
  | ShardMessage
  | PageMessage
  | MissedMessage
  | OfferMessage
  | PokeMessage
  | MembersMessage
  | CancelMembersMessage;

type OfBroadcast = Readonly<{ tenant: string; broadcastId: string }>;

/** A broadcast was accepted: deliver it to every wait. */
export type BroadcastMessage = OfBroadcast & Readonly<{ kind: "broadcast" }>;

/** Check whether a broadcast has reached every wait; only where queues are in memory. */
export type WatchMessage = OfBroadcast & Readonly<{ kind: "watch" }>;

/** Send the pages of one shard from the row `from` on; `page` is the number of the next one. */
export type ShardMessage = OfBroadcast &
  Readonly<{
    kind: "shard";
    epoch: number;
    shard: number;
    page: number;
    from?: string;
    /** Counts the restarts of queues in memory; absent in the first run. */
    round?: number;
  }>;

/** Deliver to these rows; `page` identifies the page in the receipt. */
export type PageMessage = OfBroadcast &
  Readonly<{
    kind: "page";
    page: string;
    /** The last one of its shard. */
    last: boolean;
    rows: readonly PagedRow[];
  }>;

/**
 * What a row stands for: a wait of an instance, which `version` committed together with the row, or
 * a start event of a definition.
 */
export type PagedRow = Readonly<
  { sk: string; pk: string; after: number; at: Instant } & (
    | { instanceId: string; ticket: string; version: number }
    | { definitionId: string; element: string }
  )
>;

/**
 * Check whether the broadcasts that a wait had missed have reached it, and deliver those that have
 * not.
 */
export type MissedMessage = Addressed & Readonly<{ kind: "missed"; ticket: string }>;

/** Send the open items of a batch from number `from` up to, but excluding, `to`. */
export type MembersMessage = Addressed &
  Readonly<{ kind: "members"; ticket: string; from: number; to: number }>;

/** Cancel the called processes of these items of a batch that was interrupted. */
export type CancelMembersMessage = Addressed &
  Readonly<{ kind: "cancel-members"; ticket: string; numbers: readonly number[] }>;

/** Offer a kept event that only one wait may take, to the longest wait first. */
export type OfferMessage = Readonly<{ kind: "offer"; tenant: string; name: string; seq: number }>;

/** Match the messages of a mailbox with its waits and message start events. */
export type PokeMessage = Readonly<{ kind: "poke"; tenant: string; name: string; key: string }>;

/** `base` is the version of the instance when the request was parked. */
export type ParkedRequest = Readonly<{
  id: string;
  body: string;
  answer: number;
  base: number;
}>;

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
    id: RememberedMessage;
    /** The version of the mailbox when it had no waits; absent: it keeps the message for this start. */
    base?: number;
  }>;
}>;

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
