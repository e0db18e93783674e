import type { Observation } from "../engine/world.ts";
import type { Instance } from "../kernel/instance.ts";

/** Counts timers that have really fired: a wake-up after its timer was closed does not count. */
export class FiredTimers {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Counts what a commit has added to the history. */
  tell({ trail }: Instance, before: Instance | undefined): void {
    const known = before?.trail.next ?? 1;
    for (const { seq, type } of trail.entries) {
      if (seq >= known && type === "timer-due") this.#count += 1;
    }
  }

  /** Start events have no history of their own: they are observed when they fire. */
  observe({ kind }: Observation): void {
    if (kind === "timer-start-fired") this.#count += 1;
  }
}
