import { instantFrom } from "../../definition/time/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Invocation } from "../../ports/message.ts";

/** The lease of an invocation on its work. */
export const LEASE_MS = 15 * 60_000;

/** Gives every delivery an id that is never used again, not even after a restart. */
export class Invocations {
  /** New whenever the process starts; every id of this run begins with it. */
  readonly bootId: string;
  readonly #clock: Pick<Clock, "now">;
  readonly #running = new Set<string>();
  #count = 0;

  constructor({ clock, ids }: Readonly<{ clock: Pick<Clock, "now">; ids: Ids }>) {
    this.#clock = clock;
    this.bootId = ids.digest(ids.fresh()).slice(0, 8);
  }

  /** Runs the work under a new invocation. */
  async during<T>(
    how: Pick<Invocation, "mayContinue" | "aside">,
    work: (invocation: Invocation) => Promise<T>,
  ): Promise<T> {
    const id = `${this.bootId}-${++this.#count}`;
    const until = instantFrom(this.#clock.now() + LEASE_MS);
    this.#running.add(id);
    try {
      return await work({ id, until, ...how });
    } finally {
      this.#running.delete(id);
    }
  }

  /**
   * Whether an owner is dead: it belongs to an earlier run of this process, or its work has ended.
   * Exact, because one process owns the store; so the lease of a dead owner is not waited for.
   */
  isDeadOwner(own: string): boolean {
    return !this.#running.has(own);
  }
}
