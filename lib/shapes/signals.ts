/** What senders of signals, messages and events hand in, and what they learn of it. */
import type { Json, Variables } from "../definition/json.ts";
import type { Ended } from "../kernel/ending.ts";
import type { OnTargetTerminated } from "../kernel/queued-event.ts";

/** With an `id` it can be repeated: the same id is the same broadcast. */
export type SignalRequest = Readonly<{ name: string; payload?: Variables; id?: string }>;

/** The counts are there when every wait was reached within the call. */
export type SignalAnswer = Readonly<{
  broadcastId: string;
  deliveredCount?: number;
  startedCount?: number;
}>;

/** `matched` is the sum of `delivered`, `started`, `skipped`, `expired` and those that failed. */
export type ReceiptView = Readonly<{
  broadcastId: string;
  kind: "signal" | "event";
  name: string;
  acceptedAt: string;
  /** Every wait that was open when it was accepted has been dealt with. */
  complete: boolean;
  matched: number;
  delivered: number;
  /** Waits that ended otherwise before it reached them. */
  skipped: number;
  started: number;
  expired: number;
  failed: readonly FailedDelivery[];
}>;

/** It was taken, and led to an incident at once; without an id the instance could not be read. */
export type FailedDelivery = Readonly<{ instanceId: string; incidentId?: string; message: string }>;

export type MessageRequest = Readonly<{
  name: string;
  correlationKey?: string;
  payload?: Variables;
  /** The same id in the same mailbox is the same message. */
  messageId?: string;
  /** A duration, PT1H by default; PT0S: only for waits that are open now. */
  timeToLive?: string;
}>;

export type MessageAnswer = Readonly<{
  messageId: string;
  outcome: "delivered" | "started" | "buffered" | "duplicate";
  /** Who got it; the first of them, where several process ids did. */
  instanceId?: string;
}>;

export type EventRequest = Readonly<{
  name: string;
  payload?: Json;
  /** An instance; without one it is broadcast. */
  target?: string;
  id?: string;
}>;

/** Without an outcome it is still on its way: its receipt tells. */
export type EventAnswer = Readonly<{
  id: string;
  outcome?: "delivered" | "queued" | "dropped";
  deliveredCount?: number;
}>;

export type EventConfig = Readonly<{
  consumeOnRead: boolean;
  deliveryMode: "AfterWait" | "AfterCreate" | "All";
  /** A duration. */
  expireAfter: string;
  onTargetTerminated: OnTargetTerminated;
}>;

export type EventTypeView = EventConfig & Readonly<{ name: string; declared: boolean }>;

export type DeadLetterView = Readonly<{
  id: string;
  name: string;
  payload: Json;
  at: string;
  reason: string;
  target: string;
  targetStatus: Ended;
}>;
