/**
 * History is the trail: its newest part in the instance, the rest in chunks. The instance is read
 * first: the other order would lose what spills in between. A page reads only the chunks that hold
 * it: its cursor says the last entry that was seen, and the first one of the piece that goes on.
 */
import { formatInstant } from "../../definition/time/instant.ts";
import { runOf, type TrailEntry } from "../../kernel/trail.ts";
import { cursorInvalid } from "../../ports/store-rules.ts";
import type { HistoryEntry } from "../../shapes/instances.ts";
import type { Listed, PageRequest } from "../../shapes/paging.ts";
import { chunksOf, MANY_CHUNKS } from "../storage/chunks.ts";
import { parseChunk } from "../storage/codec.ts";
import { defined } from "../storage/defined.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { getInstance } from "./instance-calls.ts";

export async function readHistory(
  world: World,
  instanceId: string,
  { limit, cursor }: PageRequest,
): Promise<Listed<HistoryEntry>> {
  const place = cursor === undefined ? BEGINNING : parsePlace(cursor);
  const found = await entriesFrom(world, await getInstance(world, instanceId), place, limit + 1);
  const [first] = found;
  // No page of this history ended there: what is before it in its piece would be left out.
  if (first && place.piece > 1 && first.entry.seq !== place.seq) {
    throw cursorInvalid(cursor ?? "");
  }
  const next = found[limit];
  return {
    items: found.slice(0, limit).map(({ entry }) => viewEntry(entry)),
    ...(next && { nextCursor: `${next.entry.seq - 1}.${next.piece}` }),
  };
}

/** Every entry once, in order. */
export async function allEntries(world: World, image: Image): Promise<readonly TrailEntry[]> {
  const found = await entriesFrom(world, image, BEGINNING, Number.POSITIVE_INFINITY);
  return found.map(({ entry }) => entry);
}

/** An entry of history, and the first one of the piece that it stands in. */
type Place = Readonly<{ seq: number; piece: number }>;
const BEGINNING: Place = { seq: 1, piece: 1 };

function parsePlace(cursor: string): Place {
  const [, after, first] = /^(\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? [];
  const place = { seq: Number(after) + 1, piece: Number(first) };
  if (first === undefined || place.piece < 1 || place.piece > place.seq) {
    throw cursorInvalid(cursor);
  }
  return place;
}

type Found = Readonly<{ entry: TrailEntry; piece: number }>;

/** At least `count` entries from a place on, if there are as many. */
async function entriesFrom(
  world: World,
  { instance, program }: Image,
  { seq, piece }: Place,
  count: number,
): Promise<readonly Found[]> {
  const { next, entries: inside } = instance.trail;
  const bySeq = new Map<number, Found>();
  const add = (entries: readonly TrailEntry[], first: number) => {
    for (const entry of entries) {
      if (entry.seq >= seq && entry.seq < next) bySeq.set(entry.seq, { entry, piece: first });
    }
  };
  if (seq < next - inside.length) {
    const atOnce = Number.isFinite(count) ? FEW : MANY_CHUNKS;
    for await (const { body } of chunksOf(world, instance, piece, atOnce)) {
      const entries = parseChunk(body, program.definition, runOf(instance));
      add(entries, entries[0]?.seq ?? 1);
      if (bySeq.size >= count) break;
    }
  }
  if (bySeq.size < count) add(inside, next - inside.length);
  return [...bySeq.values()].sort((a, b) => a.entry.seq - b.entry.seq);
}

/** Chunks that are read at once for a page. */
const FEW = 2;

function viewEntry({ seq, at, type, element, occurrence, data }: TrailEntry): HistoryEntry {
  return { seq, at: formatInstant(at), type, ...defined({ element, occurrence, data }) };
}
