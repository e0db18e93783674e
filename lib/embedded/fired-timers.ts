import type { Observation } from "../engine/observation.ts";
import type { Instance } from "../kernel/instance.ts";

/** Counts timers that have really fired: a wake-up that came too late for its timer is none. */
export class FiredTimers {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Looks at what a commit has added to the history. */
  tell({ trail }: Instance, before: Instance | undefined): void {
    const known = before?.trail.next ?? 1;
    for (const { seq, type } of trail.entries) {
      if (seq >= known && type === "timer-due") this.#count += 1;
    }
  }

  /** Start events have no history of their own: who fires them tells. */
  observe({ kind }: Observation): void {
    if (kind === "timer-start-fired") this.#count += 1;
  }
}
