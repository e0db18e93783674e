/**
 * History is the trail: its newest part in the instance, the rest in chunks. The instance is read
 * first: the other order would lose what spills in between.
 */
import { formatInstant } from "../definition/time/instant.ts";
import type { TrailEntry } from "../kernel/trail.ts";
import { parseChunk } from "./codec.ts";
import { getInstance } from "./instance-calls.ts";
import { CHUNKS, instancePk } from "./keys.ts";
import { badCursor } from "./listing.ts";
import { checkPage } from "./request-rules.ts";
import type { HistoryEntry } from "./shapes/instances.ts";
import type { Listed, PageRequest } from "./shapes/paging.ts";
import type { Image } from "./stored-instance.ts";
import type { World } from "./world.ts";

export async function readHistory(
  world: World,
  instanceId: string,
  page: PageRequest,
): Promise<Listed<HistoryEntry>> {
  checkPage(page);
  const { limit, cursor } = page;
  const after = cursor === undefined ? 0 : Number(cursor);
  if (!Number.isSafeInteger(after) || after < 0) throw badCursor();
  const image = await getInstance(world, instanceId);
  const entries = (await allEntries(world, image)).filter(({ seq }) => seq > after);
  const items = entries.slice(0, limit).map(viewEntry);
  const last = items.at(-1);
  return { items, ...(entries.length > limit && last && { nextCursor: String(last.seq) }) };
}

/** Every entry once, in order. */
export async function allEntries(world: World, image: Image): Promise<readonly TrailEntry[]> {
  const { instance, program } = image;
  const inside = instance.trail.entries;
  const bySeq = new Map<number, TrailEntry>();
  if (instance.trail.next - inside.length > 1) {
    const pk = instancePk(world.settings.tenant, instance.id);
    let after: string | undefined;
    do {
      const page = await world.store.scan(pk, { ...CHUNKS, limit: 100, ...(after && { after }) });
      for (const { body } of page.items) {
        const entries = parseChunk(body, program.definition, instance.startedAt);
        for (const entry of entries) bySeq.set(entry.seq, entry);
      }
      after = page.next;
    } while (after !== undefined);
  }
  for (const entry of inside) bySeq.set(entry.seq, entry);
  return [...bySeq.values()]
    .filter(({ seq }) => seq < instance.trail.next)
    .sort((a, b) => a.seq - b.seq);
}

function viewEntry({ seq, at, type, element, data }: TrailEntry): HistoryEntry {
  return {
    seq,
    at: formatInstant(at),
    type,
    ...(element !== undefined && { element }),
    ...(data !== undefined && { data }),
  };
}
