import { MAX_QUEUED_BODY_BYTES } from "../definition/limits.ts";
import { type Instant, instantFrom } from "../definition/time/instant.ts";
import type { Clock } from "../ports/clock.ts";
import type { Message } from "../ports/message.ts";
import { messageText } from "../ports/message-text.ts";
import type { Ledger } from "./ledger.ts";

export type QueueName = "tasks" | "timers" | "work" | "steps";

export type Queued = Readonly<{
  queue: QueueName;
  message: Message;
  visibleAt: Instant;
  /** Its receive count. */
  receives: number;
}>;

/** The queues of an installation: sent, received and deleted messages are charged. */
export class BilledQueues {
  readonly #ledger: Ledger;
  readonly #clock: Pick<Clock, "now">;
  #queued: Queued[] = [];

  constructor(ledger: Ledger, clock: Pick<Clock, "now">) {
    this.#ledger = ledger;
    this.#clock = clock;
  }

  /** A function sends, and waits for the response. */
  async send(queue: QueueName, message: Message, afterMs = 0): Promise<void> {
    this.#ledger.take("send");
    this.accept(queue, message, afterMs);
  }

  /** Another service sends, or a function that does not wait for it. */
  accept(queue: QueueName, message: Message, afterMs = 0): void {
    const bytes = Buffer.byteLength(messageText(message));
    if (bytes > MAX_QUEUED_BODY_BYTES) {
      this.#ledger.take("putBlob");
      this.#ledger.spend({ of: "s3-put", requests: 1, bytes });
    }
    this.#request(queue);
    const visibleAt = instantFrom(this.#clock.now() + Math.max(0, afterMs));
    this.#add({ queue, message, visibleAt, receives: 0 });
  }

  /** When the next message may be delivered; undefined: there is none. */
  nextAt(): Instant | undefined {
    return this.#queued[0]?.visibleAt;
  }

  /**
   * Receives what may be delivered by now, in one request: a message, and for the FIFO queue the
   * other messages of its instance. Empty if there is none.
   */
  receive(): readonly Queued[] {
    const [first] = this.#queued;
    if (first === undefined || first.visibleAt > this.#clock.now()) return [];
    const batch = first.queue === "steps" ? this.#sameInstance(first) : [first];
    this.#queued = this.#queued.filter((queued) => !batch.includes(queued));
    this.#request(first.queue);
    return batch.map((queued) => ({ ...queued, receives: queued.receives + 1 }));
  }

  /** Deletes messages that were received together, in one request. */
  delete(queue: QueueName): void {
    this.#request(queue);
  }

  /** Makes a message visible again later. */
  hide(queued: Queued, ms: number): void {
    this.#request(queued.queue);
    this.#add({ ...queued, visibleAt: instantFrom(this.#clock.now() + ms) });
  }

  #sameInstance(first: Queued): readonly Queued[] {
    const now = this.#clock.now();
    const together = this.#queued.filter(
      (queued) =>
        queued.queue === "steps" &&
        queued.visibleAt <= now &&
        instanceOf(queued.message) === instanceOf(first.message),
    );
    return together.slice(0, MAX_TOGETHER);
  }

  /** Ordered by time; equal times in order of arrival. */
  #add(queued: Queued): void {
    const at = this.#queued.findIndex(({ visibleAt }) => visibleAt > queued.visibleAt);
    this.#queued.splice(at === -1 ? this.#queued.length : at, 0, queued);
  }

  /** No message is larger than one request. */
  #request(queue: QueueName): void {
    this.#ledger.spend({ of: queue === "steps" ? "sqs-fifo" : "sqs", requests: 1, queue });
  }
}

const MAX_TOGETHER = 10;

const instanceOf = (message: Message): string | undefined =>
  "instanceId" in message ? message.instanceId : undefined;
