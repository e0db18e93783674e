import { setImmediate as turn } from "node:timers/promises";
import { type Instant, instantFrom } from "../../lib/definition/time/instant.ts";
import type { Alarm } from "../../lib/ports/alarm.ts";
import type { Clock } from "../../lib/ports/clock.ts";

/** Time in a test: it passes when the test says so, and alarms ring on the way. */
export class ManualTime implements Clock {
  #now: number;
  #offMs = 0;
  #alarms: { at: number; ring: () => void }[] = [];

  constructor(now = Date.UTC(2030, 0, 1)) {
    this.#now = now;
  }

  /** Alarms that are set. */
  get alarms(): number {
    return this.#alarms.length;
  }

  now(): Instant {
    return instantFrom(this.#now + this.#offMs);
  }

  async pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => this.alarm(ms, resolve));
  }

  /** A clock that shows the time that really passed, whatever `jump` did. */
  readonly steady = { now: (): Instant => instantFrom(this.#now) };

  readonly alarm: Alarm = (afterMs, ring) => {
    const alarm = { at: this.#now + afterMs, ring };
    this.#alarms.push(alarm);
    return () => {
      this.#alarms = this.#alarms.filter((other) => other !== alarm);
    };
  };

  /** Sets the wall clock; no time passes. */
  jump(byMs: number): void {
    this.#offMs += byMs;
  }

  /** Lets time pass, ringing in order and letting everything that follows run. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    await rest();
    for (;;) {
      const next = this.#alarms
        .filter(({ at }) => at <= end)
        .reduce<{ at: number; ring: () => void } | undefined>(
          (first, other) => (first === undefined || other.at < first.at ? other : first),
          undefined,
        );
      if (next === undefined) break;
      this.#alarms = this.#alarms.filter((alarm) => alarm !== next);
      this.#now = Math.max(this.#now, next.at);
      next.ring();
      await rest();
    }
    this.#now = end;
    await rest();
  }
}

/** A queue starts one tick after it got something: what follows takes two. */
async function rest(): Promise<void> {
  await turn();
  await turn();
}
