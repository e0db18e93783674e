import { readFileSync } from "node:fs";
import { SimulatedStore } from "../../lib/adapters/simulated/store.ts";
import { FORMATS, oldestRead } from "../../lib/engine/storage/formats.ts";
import type { Item } from "../../lib/ports/store.ts";
import { TASKS, WORKFLOWS } from "./every-kind.ts";
import { HANDLERS } from "./every-newer-kind.ts";
import { aPlainWorld, type PlainWorld } from "./plain-world.ts";

/** Every format of instances that is read; each has a fixture file of data in that format. */
export const READ: readonly number[] = Array.from(
  { length: FORMATS.instance - oldestRead("instance") + 1 },
  (_, n) => oldestRead("instance") + n,
);

/** A world on the data of an engine of this format. */
export async function worldOf(format: number): Promise<PlainWorld & { store: SimulatedStore }> {
  const text = readFileSync(`test/fixtures/stored/format-${format}.json`, "utf8");
  const items = JSON.parse(text) as readonly (Omit<Item, "body"> & { body: string })[];
  const store = new SimulatedStore({});
  for (const item of items) {
    const put = { ...item, body: new TextEncoder().encode(item.body) };
    await store.commit([{ put, when: "absent" }]);
  }
  return {
    ...aPlainWorld({ store, tasks: TASKS, handlers: HANDLERS, workflows: WORKFLOWS }),
    store,
  };
}
