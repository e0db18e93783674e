import { SimulatedStore } from "../../lib/adapters/simulated/store.ts";
import type { Key } from "../../lib/ports/store.ts";

/** Selects commits by the keys that they write. */
export type Meant = (keys: readonly Key[]) => boolean;

export const writesInstance =
  (instanceId: string): Meant =>
  (keys) =>
    keys.some(({ pk, sk }) => sk === "S" && pk.endsWith(`#I#${instanceId}`));

export const writesMailbox: Meant = (keys) => keys.some(({ pk }) => pk.split("#")[1] === "M");

/** A store in which something can happen, or the caller can die, directly before a commit. */
export class GatedStore {
  #gates: { meant: Meant; run: () => Promise<void> }[] = [];
  #isDead: Meant | undefined;

  readonly store = new SimulatedStore({
    turn: async (point, keys) => {
      if (point !== "commit:before") return undefined;
      if (this.#isDead?.(keys)) throw new Error("The caller has died.");
      const at = this.#gates.findIndex(({ meant }) => meant(keys));
      const [gate] = at < 0 ? [] : this.#gates.splice(at, 1);
      await gate?.run();
      return undefined;
    },
  });

  /** Runs once, directly before the next selected commit. */
  before(meant: Meant, run: () => Promise<unknown>): void {
    this.#gates.push({
      meant,
      run: async () => {
        await run();
      },
    });
  }

  /** The caller of a selected commit dies from now on; without a selection, none does. */
  kill(meant?: Meant): void {
    this.#isDead = meant;
  }
}
