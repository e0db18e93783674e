import type { TimerMessage } from "../../ports/message.ts";
import { type Armed, nameOfTimer } from "./armed-heap.ts";

/** A timer that has become due and waits for its delivery, or is being handled. */
export type QueuedTimer = { readonly timer: TimerMessage; hasBegun: boolean; isDropped: boolean };

/**
 * Due timers on their way: one can be dropped as long as it was not handled. Later deliveries of the
 * same one finish what the first has begun.
 */
export class QueuedTimers {
  readonly #byName = new Map<string, QueuedTimer>();

  add(timer: Armed): QueuedTimer {
    const message = { kind: "timer", ...timer } as const;
    const queued: QueuedTimer = { timer: message, hasBegun: false, isDropped: false };
    this.drop(timer);
    this.#byName.set(nameOfTimer(timer), queued);
    return queued;
  }

  drop(timer: Armed): void {
    const queued = this.#byName.get(nameOfTimer(timer));
    if (queued !== undefined && !queued.hasBegun) queued.isDropped = true;
  }

  /** Whether it is still wanted. */
  begin(queued: QueuedTimer): boolean {
    queued.hasBegun = !queued.isDropped;
    return queued.hasBegun;
  }

  end(queued: QueuedTimer): void {
    const name = nameOfTimer(queued.timer);
    if (this.#byName.get(name) === queued) this.#byName.delete(name);
  }
}
