import type { Instance } from "../../../lib/kernel/instance.ts";
import type { JournalEntry, TrailEntry } from "../../../lib/kernel/trail.ts";
import type { Item } from "../../../lib/ports/store.ts";

/** What is known of one instance, out of everything that was ever stored. */
export type Life = {
  instance: Instance;
  item: Item;
  /** Every id that was ever open, and whether it still is. */
  readonly ids: Map<string, "open" | "gone">;
  /** Task tickets that a completion has consumed. */
  readonly completedTasks: Set<string>;
  readonly taskTypes: Map<string, string>;
  /** Messages that it has ever waited for. */
  readonly waited: Set<string>;
  readonly trail: Map<number, TrailEntry>;
  readonly journal: Map<number, JournalEntry>;
};
