/** What the engine's own turns are given, and what they say that they did. */

import type { ErrorCode } from "../ports/engine-error.ts";
import type { Key } from "../ports/store.ts";

/** How long a turn may go on: it is asked after each page, and stops where there is no more time. */
export type Pace = Readonly<{ hasTime?: () => boolean }>;

export type RecoveryReport = Readonly<{
  /** Instances that owed something and were set going again. */
  resumed: number;
  /** Timers that are ahead and were armed again. */
  rearmed: number;
  /** Timers that were overdue and were set to fire at once. */
  timersFired: number;
  /** Messages sent again. */
  resent: number;
  /** Mailboxes with a wait and a message for it. */
  mailboxesPoked: number;
  /** Broadcasts that had not reached every wait. */
  broadcastsResumed: number;
  /** Events for one taker that had not been offered to all who wait. */
  eventsOffered: number;
  /** Instances looked at for which no message was sent and no timer set: they needed neither. */
  skipped: number;
  /** Items that this engine cannot read: too new, too old, or damaged. They are left as they are. */
  unreadable: number;
  /** Items that could not wholly be seen to, as when a queue refused: recover again. */
  failed: number;
  /** Which items those two count, and why; of many, the first. */
  troubles: readonly RecoveryTrouble[];
}>;

export type RecoveryTrouble = Readonly<{
  /** Where it is stored. */
  key: Key;
  /** Whose state it is, where it is an instance's. */
  instanceId?: string;
  code: ErrorCode;
  message: string;
}>;

export type SweepReport = Readonly<{
  /** Items that were overdue by the index. */
  looked: number;
  /** Messages sent again: in a healthy installation hardly any. */
  sent: number;
  /** Items that could not be read, or for which nothing could be sent; each was reported. */
  troubles: number;
  /** There was more than one turn may look at, or had the time for: the next one goes on there. */
  more: boolean;
}>;

export type WheelReport = Readonly<{
  looked: number;
  /** Timers handed to the queue. */
  queued: number;
  troubles: number;
  more: boolean;
}>;
