/**
 * Lists of instances, newest first. A page takes what the indexes show, reads each instance as it is
 * now, and keeps those that match. However much a filter throws away, a page reads little more than
 * it may show: then it is short, and its cursor goes on behind what was looked at.
 */
import { MAX_PAGE_BYTES, MAX_READ_BEYOND_PAGE } from "../../definition/limits.ts";
import { storeLimits } from "../../ports/store-rules.ts";
import type { InstanceFilter, InstanceView } from "../../shapes/instances.ts";
import type { Listed, PageRequest } from "../../shapes/paging.ts";
import { isDeadRow } from "../rows/key-rows.ts";
import { defined } from "../storage/defined.ts";
import { readMany } from "../storage/items.ts";
import { instanceKey, instanceOrder } from "../storage/keys.ts";
import { type Image, imageOf } from "../storage/stored-instance.ts";
import { readable } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { boundsOf, cursorOf, matches, placeIn } from "./filter.ts";
import { type Bounds, type Entry, mergeNewest, type Source, sourcesOf } from "./listing-sources.ts";
import { viewInstance } from "./views.ts";

export async function listInstances(
  world: World,
  filter: InstanceFilter,
  page: PageRequest,
): Promise<Listed<InstanceView>> {
  const { images, last } = await readPage(world, {
    sources: await sourcesOf(world, filter),
    filter,
    behind: placeIn(world, filter, page.cursor),
    limit: page.limit,
    wants: ({ instance }) => matches(world, instance, filter),
    weigh: (image) => weightOf(viewInstance(world, image)),
  });
  const items = images.map((image) => viewInstance(world, image));
  return { items, ...(last !== undefined && { nextCursor: cursorOf(world, filter, last) }) };
}

/** Bytes that a view takes in an answer. */
export const weightOf = (view: object): number => Buffer.byteLength(JSON.stringify(view));

export type Reading = Readonly<{
  sources: readonly Source[];
  filter: Pick<InstanceFilter, "startedAfter" | "startedBefore">;
  /** The place of the last one that an earlier page looked at. */
  behind: string | undefined;
  limit: number;
  /** Tombstones as well, of instances whose erasing has begun. */
  withBuried?: true;
  wants?: (image: Image) => boolean;
  /** Of one in the answer; a page that gets too heavy is cut short. */
  weigh?: (image: Image) => number;
}>;

/** What was found, and behind which place there may be more; no place: that was all. */
export type ReadPage = Readonly<{ images: readonly Image[]; last?: string }>;

/** Reads until the page is full, too heavy, or has looked at enough. */
export async function readPage(world: World, reading: Reading): Promise<ReadPage> {
  const { sources, filter, behind, limit, withBuried = false } = reading;
  const merged = mergeNewest(sources, boundsOf(filter, behind), limit);
  const images: Image[] = [];
  let [last, bytes] = [behind, 0];
  for (let left = limit + MAX_READ_BEYOND_PAGE; images.length < limit && left > 0; ) {
    const count = Math.min(limit - images.length, left, storeLimits.keysPerCall);
    const entries = await merged.take(count);
    left -= entries.length;
    for (const [entry, image] of await readEntries(world, entries, withBuried)) {
      const weight = image && (await weightIn(world, image, reading));
      if (image && weight !== undefined) {
        bytes += weight;
        if (images.length > 0 && bytes > MAX_PAGE_BYTES) return { images, ...defined({ last }) };
        images.push(image);
      }
      last = entry.order;
    }
    if (merged.isOver()) return { images };
  }
  return { images, ...defined({ last }) };
}

/** Undefined: it is not wanted, or cannot be shown. */
async function weightIn(
  world: World,
  image: Image,
  { wants = () => true, weigh = () => 0 }: Reading,
): Promise<number | undefined> {
  const key = instanceKey(world.settings.tenant, image.instance.id);
  const weight = await readable(world, key, async () => (wants(image) ? weigh(image) : undefined));
  return weight === "unreadable" ? undefined : weight;
}

/** Each entry with its instance, if there is one to show; a row whose instance is gone is tidied. */
async function readEntries(
  world: World,
  entries: readonly Entry[],
  withBuried: boolean,
): Promise<readonly (readonly [Entry, Image | undefined])[]> {
  const { tenant } = world.settings;
  const items = await readMany(
    world.store,
    entries.map((it) => instanceKey(tenant, it.instanceId)),
  );
  const now = world.clock.now();
  const read: [Entry, Image | undefined][] = [];
  for (const [n, entry] of entries.entries()) {
    const item = items[n];
    const isThere = item !== undefined && (item.expiresAt ?? Number.POSITIVE_INFINITY) > now;
    // One instance that cannot be read must not hide all the others.
    const found = isThere ? await readable(world, item.key, () => imageOf(world, item)) : undefined;
    const image = found === "unreadable" ? undefined : found;
    // An id may be used again once its first instance has gone: its row is not for the second.
    const isOfEntry = image && instanceOrder(image.instance) === entry.order;
    const isShown = isOfEntry && (withBuried || !image.instance.erased);
    const of = typeof found === "object" ? found.instance : found;
    if (!isShown && entry.row && isDeadRow(now, entry.row, of)) {
      await world.store.tidy([entry.row.key]);
    }
    read.push([entry, isShown ? image : undefined]);
  }
  return read;
}

// Everything that is live, with incidents or without, by id alone: the caller reads each anyway, and
// reports what cannot be read instead of leaving it out.
//
// An instance that gets an incident, or loses its last, moves from one view to another. If that
// happens between the reads of the two, neither shows it. So the part that a page covers is read a
// second time, and what only that shows belongs to the page too: to be missed, an instance would
// have to move between the reads of both times.

export type LiveIds = Readonly<{ ids: readonly string[]; nextCursor?: string }>;

/** A page of them, newest first; a few more than asked for when some were on the move. */
export async function liveIds(world: World, page: PageRequest): Promise<LiveIds> {
  const sources = await sourcesOf(world, {}, ["live", "incident"]);
  const behind = placeIn(world, LIVE, page.cursor);
  const merged = mergeNewest(sources, boundsOf({}, behind), page.limit);
  const found = await merged.take(page.limit);
  const last = merged.isOver() ? undefined : found.at(-1)?.order;
  const covered = { ...boundsOf({}, behind), ...(last !== undefined && { from: last }) };
  const again = await allWithin(sources, covered);
  const byOrder = new Map([...found, ...again].map((entry) => [entry.order, entry]));
  return {
    ids: [...byOrder.values()].map(({ instanceId }) => instanceId),
    ...(last !== undefined && { nextCursor: cursorOf(world, LIVE, last) }),
  };
}

/** The name of that list in its cursors. */
const LIVE = { list: "live" };

async function allWithin(sources: readonly Source[], bounds: Bounds): Promise<readonly Entry[]> {
  const merged = mergeNewest(sources, bounds, storeLimits.keysPerCall);
  const found: Entry[] = [];
  while (!merged.isOver()) found.push(...(await merged.take(storeLimits.keysPerCall)));
  return found;
}
