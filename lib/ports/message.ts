/**
 * What wakes a step: a queued message. It names its instance and, by `name`, what it wants to
 * consume there; it stays queued until everything its step owes has left.
 */

import type { Instant } from "../definition/time/instant.ts";
import type { Fact } from "../kernel/fact.ts";

export type Message = TaskMessage | TimerMessage | ParkedMessage | OwedMessage;

type Addressed = Readonly<{ tenant: string; instanceId: string }>;

/** Run this attempt of a task. With `start` inside, the instance may not exist yet. */
export type TaskMessage = Addressed &
  Readonly<{
    kind: "task";
    ticket: string;
    attempt: number;
    type: string;
    notBefore?: Instant;
    start?: CarriedStart;
  }>;

/** A timer may be due. */
export type TimerMessage = Addressed & Readonly<{ kind: "timer"; ticket: string }>;

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
}>;

/** Who handles a message: its id, and until when others should leave its work alone. */
export type Invocation = Readonly<{
  id: string;
  until: Instant;
  /** Hosts that have the task handlers at hand may run the next short task at once. */
  mayContinue: boolean;
}>;

/** Whether the message may go, or should come back after a while. */
export type Verdict = "release" | Readonly<{ keepForMs: number }>;
