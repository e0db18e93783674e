import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { Clock } from "../../ports/clock.ts";

/** The true time of a simulated world: it moves only when the world moves it, and only forward. */
export class SimulatedTime {
  #now: Instant;

  constructor(now: Instant) {
    this.#now = now;
  }

  now(): Instant {
    return this.#now;
  }

  pass(ms: number): void {
    if (!(ms >= 0)) throw new RangeError(`Time passes by 0 ms or more, not by ${ms}.`);
    this.#now = instantFrom(this.#now + ms);
  }
}

/** The clock of one simulated host: off by its skew, and it may jump. */
export class SimulatedClock implements Clock {
  readonly #time: SimulatedTime;
  readonly #turn: ((point: "pause") => Promise<unknown>) | undefined;
  #offMs: number;

  constructor({
    time,
    skewMs = 0,
    turn,
  }: Readonly<{
    time: SimulatedTime;
    skewMs?: number;
    /** Called at every pause; the world decides when it is over. */
    turn?: (point: "pause") => Promise<unknown>;
  }>) {
    this.#time = time;
    this.#offMs = skewMs;
    this.#turn = turn;
  }

  now(): Instant {
    return instantFrom(this.#time.now() + this.#offMs);
  }

  /** Takes no time: how long a short pause is makes no difference to what may happen meanwhile. */
  async pause(): Promise<void> {
    await this.#turn?.("pause");
  }

  /** Sets the clock forward, or back with a negative number. */
  jump(byMs: number): void {
    this.#offMs += byMs;
  }
}
