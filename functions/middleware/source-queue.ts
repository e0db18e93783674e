import type { SQSRecord } from "aws-lambda";

/** What a function may do with a message of the queue that wakes it. */
export interface SourceQueue {
  /** Nobody gets the message for so long; with 0 somebody may get it at once. */
  hide(record: SQSRecord, seconds: number): Promise<void>;
  /** Queues a copy that nobody gets for so long; not where nothing can be set aside. */
  sendLater(record: SQSRecord, seconds: number): Promise<void>;
  /** Puts a copy where people look at what nobody can handle; absent: it is there already. */
  setAside?(record: SQSRecord): Promise<void>;
}
