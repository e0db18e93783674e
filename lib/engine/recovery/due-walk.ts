/**
 * A turn along the due index: pages from where the last turn stopped, each item read strongly, and
 * for each a message sent where one is due. It takes no step: the receiver of the message does.
 *
 * 1. The cursor passes a page only after everything in it was sent.
 * 2. An item that makes trouble is reported and passed over: the others go on. Where nothing of a
 *    page can be sent the queues are in trouble, not the items: the cursor stays before it. An item
 *    that cannot be read says nothing of the queues.
 * 3. A turn that is not alone stops where it notices, and one that has no more time after its page.
 */
import { LOOKS_AT_ONCE, MAX_LOOKED_AT } from "../../definition/limits.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Item, Key, Page, Slice } from "../../ports/store.ts";
import type { Pace, SweepReport } from "../../shapes/reports.ts";
import { placeOf, readMany } from "../storage/items.ts";
import { type Walk, walkKey } from "../storage/keys.ts";
import { readable } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

/** Which walk, from where to where, and what to do with each item. */
type Route = Path &
  Readonly<{
    pace: Pace;
    until: Instant;
    cursor: Cursor;
    begin: Position;
    /** Where the walk stands once everything up to `until` is done with. */
    end: Position;
    /** Sends what is due at an item, and says how many messages that were. */
    look: (item: Item) => Promise<number>;
  }>;

export async function walkDue(world: World, route: Route): Promise<SweepReport> {
  const { begin, end, pace } = route;
  const counts = { looked: 0, sent: 0, troubles: 0 };
  let cursor: Cursor | undefined = route.cursor;
  let isHeld = false;
  let after = begin.after;
  const mayGoOn = () => counts.looked < MAX_LOOKED_AT && pace.hasTime?.() !== false;
  do {
    const page: Page<Key> = await readPage(world, route, after);
    const looks = await lookAtAll(world, page.items, route.look);
    const sent = looks.filter((look) => typeof look === "number");
    const sentHere = sent.reduce((sum, count) => sum + count, 0);
    counts.looked += page.items.length;
    counts.sent += sentHere;
    counts.troubles += looks.length - sent.length;
    isHeld ||= looks.includes("refused") && sentHere === 0;
    after = page.next;
    const position = after === undefined ? end : { ...begin, after };
    if (!isHeld) cursor = await moveCursor(world, route, cursor, position);
  } while (cursor !== undefined && after !== undefined && mayGoOn());
  return { ...counts, more: after !== undefined };
}

/** A cursor that another version of the store has left is of no use: the walk begins anew. */
async function readPage(
  world: World,
  { until, slice, begin: { from } }: Route,
  after: string | undefined,
): Promise<Page<Key>> {
  try {
    return await world.store.due(until, slice, after, from);
  } catch (error) {
    const isForeign = error instanceof EngineError && error.code === "store/cursor-invalid";
    if (!isForeign || after === undefined) throw error;
    return world.store.due(until, slice, undefined, from);
  }
}

/** How many messages were sent for an item, or why none could be. */
type Looked = number | "unreadable" | "refused";

async function lookAtAll(
  world: World,
  keys: readonly Key[],
  look: Route["look"],
): Promise<readonly Looked[]> {
  const looked: Looked[] = [];
  for (let from = 0; from < keys.length; from += LOOKS_AT_ONCE) {
    const items = await readMany(world.store, keys.slice(from, from + LOOKS_AT_ONCE));
    const looks = items.flatMap((item) => (item ? [tryLook(world, item, look)] : []));
    looked.push(...(await Promise.all(looks)));
  }
  return looked;
}

/** Looks at one item; a failure is reported. */
async function tryLook(world: World, item: Item, look: Route["look"]): Promise<Looked> {
  try {
    return await readable(world, item.key, () => look(item));
  } catch (error) {
    world.onTrouble?.(`nothing could be sent for ${placeOf(item.key)}`, error);
    return "refused";
  }
}

/**
 * How far a walk along the due index has come, kept in the store so that the next one goes on there:
 * everything before `from`, and of the rest all up to `after`, is done. It moves only behind what
 * has been sent, under its version: of two walks at once one notices and stops, and what both have
 * sent is sent twice, which is harmless.
 */
export type Position = Readonly<{
  /** When the walk last began with the oldest. */
  begunAt: Instant;
  from?: Instant;
  /** A cursor of the store, while there is more than one turn may read. */
  after?: string;
}>;

/** A position as it was read; version 0 where none is stored yet. */
type Cursor = Readonly<{ version: number; position?: Position }>;

/** Which walk, along which slice of the index. */
type Path = Readonly<{ walk: Walk; slice: Slice }>;

export async function readCursor(world: World, { walk, slice }: Path): Promise<Cursor> {
  const [item] = await world.store.get([walkKey(walk, slice)]);
  if (item === undefined) return { version: 0 };
  return { version: item.version, position: parsePosition(item.body) };
}

/** The cursor behind `position`; undefined where it was not moved, because another walk may run. */
async function moveCursor(
  world: World,
  { walk, slice }: Path,
  { version }: Cursor,
  position: Position,
): Promise<Cursor | undefined> {
  const body = new TextEncoder().encode(JSON.stringify({ format: FORMAT, ...position }));
  const put = { key: walkKey(walk, slice), version: version + 1, body };
  const when = version === 0 ? "absent" : { version };
  const { kind } = await world.store.commit([{ put, when }]);
  return kind === "committed" ? { version: version + 1, position } : undefined;
}

const FORMAT = 1;

/** Where it is damaged or of a newer engine the walk begins anew, which is always right. */
function parsePosition(body: Uint8Array): Position {
  try {
    const text = new TextDecoder().decode(body);
    const { format, ...position } = JSON.parse(text) as Position & { format: number };
    if (format === FORMAT && typeof position.begunAt === "number") return position;
  } catch {
    // Not even JSON.
  }
  return { begunAt: instantFrom(0) };
}
