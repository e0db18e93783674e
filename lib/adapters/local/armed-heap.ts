import type { Instant } from "../../definition/time/instant.ts";
import type { ArmedTimer } from "../../ports/timers.ts";
import { type Due, DueHeap } from "./due-heap.ts";

type Timer = Pick<ArmedTimer, "tenant" | "instanceId" | "ticket">;

/** Timers that are held in memory only, each once; a removed one leaves nothing behind. */
export class ArmedHeap {
  readonly #heap = new DueHeap<Timer>();
  readonly #byName = new Map<string, Due<Timer>>();

  get size(): number {
    return this.#byName.size;
  }

  get earliest(): Instant | undefined {
    return this.#heap.earliest;
  }

  put({ tenant, instanceId, ticket }: Timer, dueAt: Instant): void {
    const timer = { tenant, instanceId, ticket };
    this.remove(timer);
    this.#byName.set(nameOf(timer), this.#heap.add(timer, dueAt));
  }

  remove(timer: Timer): void {
    const name = nameOf(timer);
    const due = this.#byName.get(name);
    if (due === undefined) return;
    this.#byName.delete(name);
    this.#heap.remove(due);
  }

  /** Takes out everything that is due by `now`, earliest first. */
  takeDue(now: Instant): readonly Timer[] {
    const taken: Timer[] = [];
    for (;;) {
      const due = this.#heap.takeDue(now);
      if (due === undefined) return taken;
      this.#byName.delete(nameOf(due.item));
      taken.push(due.item);
    }
  }
}

function nameOf({ tenant, instanceId, ticket }: Timer): string {
  return `${tenant}\0${instanceId}\0${ticket}`;
}
