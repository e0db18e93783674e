import { instantFrom } from "../../definition/time/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Invocation } from "../../ports/message.ts";

/** For how long others should leave the work of an invocation alone. */
export const LEASE_MS = 15 * 60_000;

/** Names every delivery, so that no name is ever used again, not even after a restart. */
export class Invocations {
  /** Drawn anew whenever the process starts; every id of this life begins with it. */
  readonly bootId: string;
  readonly #clock: Pick<Clock, "now">;
  readonly #running = new Set<string>();
  #count = 0;

  constructor({ clock, ids }: Readonly<{ clock: Pick<Clock, "now">; ids: Ids }>) {
    this.#clock = clock;
    this.bootId = ids.digest(ids.fresh()).slice(0, 8);
  }

  /** Does the work under an invocation of its own. */
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
   * Whether an owner can do nothing more: it is of an earlier life of this process, or its work is
   * over. Exact, because one process owns the store; so nobody waits for the lease of a dead one.
   */
  isDeadOwner(own: string): boolean {
    return !this.#running.has(own);
  }
}
