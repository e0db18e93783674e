import type { SQSRecord } from "aws-lambda";

/** What a function may do with a message of its queue. */
export interface SourceQueue {
  /** Hides the message for so long; with 0 it is visible at once. */
  hide(record: SQSRecord, seconds: number): Promise<void>;
  /** Sends a copy with a delay; not where nothing can be set aside. */
  sendLater(record: SQSRecord, seconds: number): Promise<void>;
  /** Sends a copy to the dead letters; absent: it is there already. */
  setAside?(record: SQSRecord): Promise<void>;
}
