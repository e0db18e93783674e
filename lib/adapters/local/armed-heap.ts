import type { Instant } from "../../definition/time/instant.ts";
import type { ArmedTimer } from "../../ports/timers.ts";
import { type Due, DueHeap } from "./due-heap.ts";

/** What names a timer. */
export type Armed = Pick<ArmedTimer, "tenant" | "instanceId" | "ticket">;

/** Timers that are held in memory only, each once; a removed one leaves nothing behind. */
export class ArmedHeap {
  readonly #heap = new DueHeap<Armed>();
  readonly #byName = new Map<string, Due<Armed>>();

  get size(): number {
    return this.#byName.size;
  }

  get earliest(): Instant | undefined {
    return this.#heap.earliest;
  }

  put({ tenant, instanceId, ticket }: Armed, dueAt: Instant): void {
    const timer = { tenant, instanceId, ticket };
    this.remove(timer);
    this.#byName.set(nameOfTimer(timer), this.#heap.add(timer, dueAt));
  }

  remove(timer: Armed): void {
    const name = nameOfTimer(timer);
    const due = this.#byName.get(name);
    if (due === undefined) return;
    this.#byName.delete(name);
    this.#heap.remove(due);
  }

  /** Takes out everything that is due by `now`, earliest first. */
  takeDue(now: Instant): readonly Armed[] {
    const taken: Armed[] = [];
    for (;;) {
      const due = this.#heap.takeDue(now);
      if (due === undefined) return taken;
      this.#byName.delete(nameOfTimer(due.item));
      taken.push(due.item);
    }
  }
}

export function nameOfTimer({ tenant, instanceId, ticket }: Armed): string {
  return `${tenant}\0${instanceId}\0${ticket}`;
}
