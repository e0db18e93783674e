import type { FanOutMessage } from "./message.ts";

/** The queue of those who bring broadcasts to all who wait; delivers at least once, in any order. */
export interface Pages {
  /** Queues a part of a fan-out, not to be delivered before `afterMs` have passed. */
  send(message: FanOutMessage, afterMs?: number): Promise<void>;
}
