/**
 * What wakes a step: a queued message. It names its instance and, by `name`, what it wants to
 * consume there; it stays queued until everything its step owes has left.
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
    /** Who handed the task back last, before it was sent again: messages from before are void. */
    handedBackBy?: string;
    start?: CarriedStart;
    /** Of a member of a family, which has no other place for it: attempts left, this one included. */
    retries?: number;
  }>;

/** A timer may be due. */
export type TimerMessage = Addressed & Readonly<{ kind: "timer"; ticket: string }>;

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

/** Somebody must look whether `name` still owes something. */
export type OwedMessage = Addressed & Readonly<{ kind: "owed"; name: string }>;

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

/** How a mailbox remembers a message: until when, and by a fingerprint of what it carried. */
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

/** A broadcast was accepted: everybody who waits gets it. */
export type BroadcastMessage = OfBroadcast & Readonly<{ kind: "broadcast" }>;

/** Look whether a broadcast has reached everybody; only where queues are in memory. */
export type WatchMessage = OfBroadcast & Readonly<{ kind: "watch" }>;

/** Send the pages of one shard from the row `from` on; `page` is the number of the next one. */
export type ShardMessage = OfBroadcast &
  Readonly<{
    kind: "shard";
    epoch: number;
    shard: number;
    page: number;
    from?: string;
    /** Counts the lives of queues in memory; absent in the first. */
    round?: number;
  }>;

/** Deliver to these rows; `page` names it in the receipt. */
export type PageMessage = OfBroadcast &
  Readonly<{
    kind: "page";
    page: string;
    /** The last one of its shard. */
    last: boolean;
    rows: readonly PagedRow[];
  }>;

/**
 * Whom a row stands for: a wait of an instance, which `version` committed together with the row, or
 * a start event of a definition.
 */
export type PagedRow = Readonly<
  { sk: string; pk: string; after: number; at: Instant } & (
    | { instanceId: string; ticket: string; version: number }
    | { definitionId: string; element: string }
  )
>;

/** Look whether what a wait had missed has reached it since, and see to it where it has not. */
export type MissedMessage = Addressed & Readonly<{ kind: "missed"; ticket: string }>;

/** Send the open members of a family from one number up to, and without, another. */
export type MembersMessage = Addressed &
  Readonly<{ kind: "members"; ticket: string; from: number; to: number }>;

/** Cancel what these members of a family have called, which is over. */
export type CancelMembersMessage = Addressed &
  Readonly<{ kind: "cancel-members"; ticket: string; numbers: readonly number[] }>;

/** Offer a kept event that only one may have to those who wait, the longest first. */
export type OfferMessage = Readonly<{ kind: "offer"; tenant: string; name: string; seq: number }>;

/** Bring those who wait at a mailbox, or begin by it, and what is kept there together. */
export type PokeMessage = Readonly<{ kind: "poke"; tenant: string; name: string; key: string }>;

/** `base` is the version that the door read when it parked the request. */
export type ParkedRequest = Readonly<{
  id: string;
  body: string;
  answer: number;
  base: number;
}>;

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
