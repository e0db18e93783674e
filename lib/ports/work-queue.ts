import type { WorkMessage } from "./message.ts";

/** The queue of fan-outs, batches and mailbox wake-ups; delivers at least once, in any order. */
export interface WorkQueue {
  /** Queues a message that is not delivered before `afterMs` have passed. */
  send(message: WorkMessage, afterMs?: number): Promise<void>;
}
