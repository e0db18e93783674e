/** What the engine's own turns are given, and what they say that they did. */

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
  /** Mailboxes in which somebody waited while something was there. */
  mailboxesPoked: number;
  /** Broadcasts that had not reached everybody. */
  broadcastsResumed: number;
  /** Events for one taker that had not been offered to all who wait. */
  eventsOffered: number;
  /** What could not be recovered now, and was left alone: ask again. The log says why. */
  failed: number;
  /** Instances looked at that needed nothing. */
  skipped: number;
}>;

export type SweepReport = Readonly<{
  /** Items that were overdue by the index. */
  looked: number;
  /** Messages sent again: in a healthy installation hardly any. */
  sent: number;
  /** Items that could not be read, or for which nothing could be sent; each was told of. */
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
