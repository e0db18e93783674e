import type { Instant } from "../../definition/time/instant.ts";
import { type Alarm, processAlarm } from "../../ports/alarm.ts";
import type { Clock } from "../../ports/clock.ts";

/** The longest blind sleep: a clock that has jumped is noticed by then. */
export const MAX_SLEEP_MS = 1_000;

/** Something that waits for an instant. Both calls are cheap: no disk access, no blocking. */
export interface Waiting {
  /** The instant it waits for; undefined: none. */
  nextDue(): Instant | undefined;
  /** The instant has come. Afterwards it waits for a later one, or for none. */
  wake(now: Instant): void;
}

/** For clocks that are moved by hand: moving one checks the agenda. */
export const noAlarm: Alarm = () => () => {};

/**
 * Wakes everything that waits for an instant of one clock, never early by that clock. It sleeps
 * until the next instant but at most a second at a time, so it follows a clock that jumps forward
 * at once, and wakes nothing early when a clock jumps back.
 */
export class Agenda {
  readonly #clock: Pick<Clock, "now">;
  readonly #alarm: Alarm;
  readonly #waiting: Waiting[] = [];
  #ring: Readonly<{ at: Instant; callOff: () => void }> | undefined;
  #isLooking = false;
  #isStopped = false;

  constructor({ clock, alarm = processAlarm }: { clock: Pick<Clock, "now">; alarm?: Alarm }) {
    this.#clock = clock;
    this.#alarm = alarm;
  }

  now(): Instant {
    return this.#clock.now();
  }

  add(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.look();
  }

  /** The first instant that anything waits for. */
  next(): Instant | undefined {
    let next: Instant | undefined;
    for (const waiting of this.#waiting) {
      const due = waiting.nextDue();
      if (due !== undefined && (next === undefined || due < next)) next = due;
    }
    return next;
  }

  /** Wakes what is due, and sets the alarm for the rest; called when the clock or the waits changed. */
  look(): void {
    if (this.#isStopped || this.#isLooking) return; // the running call sees what changed
    this.#isLooking = true;
    try {
      while (this.#wakeDue());
    } finally {
      this.#isLooking = false;
    }
    this.#setAlarm();
  }

  /** Wakes nothing any more. */
  stop(): void {
    this.#isStopped = true;
    this.#ring?.callOff();
    this.#ring = undefined;
  }

  #wakeDue(): boolean {
    const now = this.#clock.now();
    let hasWoken = false;
    for (const waiting of this.#waiting) {
      const due = waiting.nextDue();
      if (due === undefined || due > now) continue;
      waiting.wake(now);
      hasWoken = true;
    }
    return hasWoken;
  }

  /** An alarm that is too early costs one check; so only one that would be too late is moved. */
  #setAlarm(): void {
    const next = this.next();
    if (this.#isStopped || next === undefined) return;
    if (this.#ring !== undefined && this.#ring.at <= next) return;
    this.#ring?.callOff();
    const afterMs = Math.min(Math.max(next - this.#clock.now(), 1), MAX_SLEEP_MS);
    const callOff = this.#alarm(afterMs, () => {
      this.#ring = undefined;
      this.look();
    });
    this.#ring = { at: next, callOff };
  }
}
