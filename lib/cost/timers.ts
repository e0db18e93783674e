import { type Instant, instantFrom } from "../definition/time/instant.ts";
import type { Clock } from "../ports/clock.ts";
import type { TimerMessage, TimerStartMessage } from "../ports/message.ts";
import {
  type ArmedStart,
  type ArmedTimer,
  type DisarmedStart,
  type DisarmedTimer,
  type Timers,
  timerMessage,
  timerName,
} from "../ports/timers.ts";
import { SCHEDULE_LEAD_MS, TIMER_QUEUE_MAX_MS } from "./assumptions.ts";
import type { Ledger } from "./ledger.ts";
import type { BilledQueues } from "./queues.ts";

type Schedule = Readonly<{ at: Instant; message: TimerMessage | TimerStartMessage }>;

/**
 * Timers by the queue up to its longest delay, and by schedules beyond; a schedule costs when it
 * fires.
 */
export class BilledTimers implements Timers {
  readonly #ledger: Ledger;
  readonly #clock: Pick<Clock, "now">;
  readonly #queues: BilledQueues;
  #schedules: Schedule[] = [];

  constructor(ledger: Ledger, clock: Pick<Clock, "now">, queues: BilledQueues) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#queues = queues;
  }

  async arm({ dueAt, ...timer }: ArmedTimer | ArmedStart): Promise<void> {
    const message = timerMessage(timer);
    const aheadMs = dueAt - this.#clock.now();
    if (aheadMs <= TIMER_QUEUE_MAX_MS) {
      await this.#queues.send("timers", message, aheadMs);
      return;
    }
    this.#ledger.take("schedule");
    this.#schedules.push({ at: instantFrom(dueAt - SCHEDULE_LEAD_MS), message });
  }

  async disarm({ dueAt, since, ...timer }: DisarmedTimer | DisarmedStart): Promise<void> {
    if (dueAt - since <= TIMER_QUEUE_MAX_MS) return;
    this.#ledger.take("schedule");
    const name = timerName(timer);
    this.#schedules = this.#schedules.filter(({ message }) => timerName(message) !== name);
  }

  /** When the next schedule fires; undefined: there is none. */
  nextAt(): Instant | undefined {
    return this.#schedules.map(({ at }) => at).toSorted((a, b) => a - b)[0];
  }

  /** Fires what is due. */
  fire(): void {
    const now = this.#clock.now();
    const due = this.#schedules.filter(({ at }) => at <= now);
    this.#schedules = this.#schedules.filter(({ at }) => at > now);
    for (const { message } of due) {
      this.#ledger.spend({ of: "scheduler", invocations: 1 });
      this.#queues.accept("timers", message);
    }
  }
}
