import type { RecoveryReport } from "../../lib/shapes/reports.ts";

/** The report of a recovery without anything to do. */
export const NOTHING_RECOVERED: RecoveryReport = {
  resumed: 0,
  rearmed: 0,
  timersFired: 0,
  resent: 0,
  mailboxesPoked: 0,
  broadcastsResumed: 0,
  eventsOffered: 0,
  skipped: 0,
  unreadable: 0,
  failed: 0,
  troubles: [],
};
