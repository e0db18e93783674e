/** Chunks of history and journal that have left an instance. */
import type { Instance } from "../../kernel/instance.ts";
import { type JournalEntry, runOf } from "../../kernel/trail.ts";
import type { Item } from "../../ports/store.ts";
import type { World } from "../world.ts";
import { parseChunkJournal } from "./codec.ts";
import { scanAll } from "./items.ts";
import { chunksFrom, instancePk } from "./keys.ts";

/** The chunks from the one on that begins with this entry of history, `limit` at a time. */
export const chunksOf = (
  { store }: Pick<World, "store">,
  { tenant, id }: Pick<Instance, "tenant" | "id">,
  first: number,
  limit: number,
): AsyncGenerator<Item> => scanAll(store, instancePk(tenant, id), { ...chunksFrom(first), limit });

/** Chunks that are read at once, where all are wanted. */
export const MANY_CHUNKS = 100;

const FIRST = 1;

/** The journal of the present run, in order; where a chunk is missing it ends before the gap. */
export async function readJournal(
  world: Pick<World, "store">,
  instance: Instance,
): Promise<readonly JournalEntry[]> {
  const { journal } = instance;
  if (journal === undefined) return [];
  const { next, entries } = journal;
  const byNumber = new Map<number, JournalEntry>();
  const add = (first: number, part: readonly JournalEntry[]) => {
    for (const [n, entry] of part.entries()) byNumber.set(first + n, entry);
  };
  if (entries.length < next - 1) {
    for await (const { body } of chunksOf(world, instance, FIRST, MANY_CHUNKS)) {
      const part = parseChunkJournal(body, runOf(instance));
      if (part) add(part.next - part.entries.length, part.entries);
    }
  }
  add(next - entries.length, entries);
  const whole: JournalEntry[] = [];
  for (let n = 1; n < next; n += 1) {
    const entry = byNumber.get(n);
    if (entry === undefined) break;
    whole.push(entry);
  }
  return whole;
}
