import type { Instant } from "../../definition/time/instant.ts";
import { type Alarm, processAlarm } from "../../ports/alarm.ts";
import type { Clock } from "../../ports/clock.ts";

/** Entries of a list of unfinished work; the rest is only counted. */
export const MAX_LISTED_WORK = 100;

/** A piece of work that is running or ready; its id distinguishes it from equal ones. */
export type Work = Readonly<{ id: string; what: string }>;

/** Where work is queued and runs. What waits for a future instant does not count as work. */
export interface Workplace {
  /** Pieces that are ready, running, or waiting for a retry. */
  readonly load: number;
  /** Those of them that are running. */
  readonly running: number;
  left(): Iterable<Work>;
}

/** Tracks whether there is any work in this process, and resolves waits for its end. */
export class Activity {
  readonly #steady: Pick<Clock, "now">;
  readonly #alarm: Alarm;
  readonly #places: Workplace[] = [];
  readonly #watchers = new Set<() => void>();
  #progressedAt: Instant;

  constructor({ steady, alarm = processAlarm }: { steady: Pick<Clock, "now">; alarm?: Alarm }) {
    this.#steady = steady;
    this.#alarm = alarm;
    this.#progressedAt = steady.now();
  }

  get load(): number {
    return this.#places.reduce((sum, place) => sum + place.load, 0);
  }

  get running(): number {
    return this.#places.reduce((sum, place) => sum + place.running, 0);
  }

  add(place: Workplace): void {
    this.#places.push(place);
  }

  /** Called by a workplace on every change: with `progress` when a piece of work is finished. */
  changed(how?: "progress"): void {
    if (how === "progress") this.#progressedAt = this.#steady.now();
    for (const watcher of this.#watchers) watcher();
  }

  /** One sentence for each piece of work, and for those that did not fit one together. */
  whatIsLeft(): readonly string[] {
    const sentences: string[] = [];
    let more = 0;
    for (const place of this.#places) {
      for (const { what } of place.left()) {
        if (sentences.length < MAX_LISTED_WORK) sentences.push(what);
        else more++;
      }
    }
    return more === 0 ? sentences : [...sentences, `and ${more} more`];
  }

  /** Resolves when there is no work at all. */
  async idle(): Promise<void> {
    await this.#until(() => this.load === 0);
  }

  /**
   * Resolves when there is no work except what `givenUp` names. When nothing was finished for
   * `patienceMs` of real time it adds the rest to `givenUp` and resolves as well.
   */
  async settle({
    patienceMs,
    givenUp,
  }: Readonly<{ patienceMs: number; givenUp: Set<string> }>): Promise<void> {
    this.#progressedAt = this.#steady.now();
    const isSettled = await this.#until(() => this.#isOnly(givenUp), patienceMs);
    if (isSettled) return;
    for (const place of this.#places) for (const { id } of place.left()) givenUp.add(id);
  }

  /** Whether, within `withinMs`, no more than `count` pieces of work were running. */
  async runningAtMost(count: number, withinMs: number): Promise<boolean> {
    this.#progressedAt = this.#steady.now();
    return this.#until(() => this.running <= count, withinMs, "progress or not");
  }

  #isOnly(givenUp: ReadonlySet<string>): boolean {
    if (this.load > givenUp.size) return false; // cheap: most of the time there is more
    for (const place of this.#places) {
      for (const { id } of place.left()) if (!givenUp.has(id)) return false;
    }
    return true;
  }

  async #until(
    isSo: () => boolean,
    patienceMs?: number,
    counting: "from the last progress" | "progress or not" = "from the last progress",
  ): Promise<boolean> {
    if (isSo()) return true;
    const begunAt = this.#steady.now();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const look = () => {
      if (isSo()) resolve(true);
    };
    let callOff = () => {};
    const ring = () => {
      const since = counting === "progress or not" ? begunAt : this.#progressedAt;
      const leftMs = since + (patienceMs ?? 0) - this.#steady.now();
      if (leftMs <= 0) resolve(false);
      else callOff = this.#alarm(leftMs, ring);
    };
    if (patienceMs !== undefined) callOff = this.#alarm(patienceMs, ring);
    this.#watchers.add(look);
    try {
      return await promise;
    } finally {
      this.#watchers.delete(look);
      callOff();
    }
  }
}
