import { SimulatedStore } from "../../lib/adapters/simulated/store.ts";
import type { Key } from "../../lib/ports/store.ts";

/** Says which commits are meant, by the keys that they write. */
export type Meant = (keys: readonly Key[]) => boolean;

export const writesInstance =
  (instanceId: string): Meant =>
  (keys) =>
    keys.some(({ pk, sk }) => sk === "S" && pk.endsWith(`#I#${instanceId}`));

export const writesMailbox: Meant = (keys) => keys.some(({ pk }) => pk.split("#")[1] === "M");

/** A store in which something can happen, or somebody can die, right before a commit. */
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

  /** Once, right before the next commit that is meant. */
  before(meant: Meant, run: () => Promise<unknown>): void {
    this.#gates.push({
      meant,
      run: async () => {
        await run();
      },
    });
  }

  /** Whoever makes such a commit from now on dies instead; without one, all live again. */
  kill(meant?: Meant): void {
    this.#isDead = meant;
  }
}
