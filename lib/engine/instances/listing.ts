/**
 * Lists of instances, newest first. A page takes what the indexes show, reads each instance as it is
 * now, and keeps those that match. However much a filter throws away, a page reads little more than
 * it may show: then it is short, and its cursor goes on behind what was looked at.
 */
import { MAX_PAGE_BYTES, MAX_READ_BEYOND_PAGE } from "../../definition/limits.ts";
import type { Instance } from "../../kernel/instance.ts";
import type { Item } from "../../ports/store.ts";
import { storeLimits } from "../../ports/store-rules.ts";
import type { InstanceFilter, InstanceView } from "../../shapes/instances.ts";
import type { Listed, PageRequest } from "../../shapes/paging.ts";
import { isDeadRow } from "../rows/key-rows.ts";
import { defined } from "../storage/defined.ts";
import { readMany } from "../storage/items.ts";
import { instanceKey, instanceOrder, type Phase } from "../storage/keys.ts";
import { type Image, imageOf } from "../storage/stored-instance.ts";
import { readable } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { type Bounds, boundsOf, goingOn, matches, placeIn } from "./filter.ts";
import { type Entry, mergeNewest, type Source, sourcesOf } from "./listing-sources.ts";
import { viewInstance } from "./views.ts";

export async function listInstances(
  world: World,
  filter: InstanceFilter,
  page: PageRequest,
): Promise<Listed<InstanceView>> {
  const { images, last } = await readPage(world, {
    filter,
    behind: placeIn(world, filter, page.cursor),
    limit: page.limit,
    weigh: (image) => weightOf(viewInstance(world, image)),
  });
  const items = images.map((image) => viewInstance(world, image));
  return { items, ...goingOn(world, filter, last) };
}

/** Bytes that a view takes in an answer. */
export const weightOf = (view: object): number => Buffer.byteLength(JSON.stringify(view));

type Reading = Readonly<{
  filter: InstanceFilter;
  /** Which views to read; by default those that the filter asks for. */
  phases?: readonly Phase[];
  /** The place of the last one that an earlier page looked at. */
  behind: string | undefined;
  limit: number;
  /** Tombstones as well, of instances whose erasing has begun. */
  withBuried?: true;
  /** Says of one that matches the filter whether it is shown. */
  wants?: (instance: Instance) => boolean;
  /** Of one in the answer; a page that gets too heavy is cut short. */
  weigh?: (image: Image) => number;
}>;

/**
 * Reads until the page is full, too heavy, or has looked at enough. Gives what was found, and behind
 * which place there may be more; no place: that was all.
 */
export async function readPage(
  world: World,
  reading: Reading,
): Promise<Readonly<{ images: readonly Image[]; last?: string }>> {
  const { filter, phases, behind, limit } = reading;
  const sources = await sourcesOf(world, filter, phases);
  const merged = mergeNewest(sources, boundsOf(filter, behind), limit);
  const images: Image[] = [];
  let [last, bytes] = [behind, 0];
  for (let left = limit + MAX_READ_BEYOND_PAGE; images.length < limit && left > 0; ) {
    const count = Math.min(limit - images.length, left, storeLimits.keysPerCall);
    const entries = await merged.take(count);
    left -= entries.length;
    const keys = entries.map((it) => instanceKey(world.settings.tenant, it.instanceId));
    const items = await readMany(world.store, keys);
    for (const [n, entry] of entries.entries()) {
      const image = await imageAt(world, entry, items[n], reading);
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
  { filter, wants = () => true, weigh = () => 0 }: Reading,
): Promise<number | undefined> {
  const { instance } = image;
  const key = instanceKey(world.settings.tenant, instance.id);
  const weight = await readable(world, key, async () =>
    matches(world, instance, filter) && wants(instance) ? weigh(image) : undefined,
  );
  return weight === "unreadable" ? undefined : weight;
}

/** The instance of an entry, if there is one to show; a row whose instance is gone is tidied. */
async function imageAt(
  world: World,
  { order, row }: Entry,
  item: Item | undefined,
  { withBuried }: Reading,
): Promise<Image | undefined> {
  const now = world.clock.now();
  const isThere = item !== undefined && (item.expiresAt ?? Number.POSITIVE_INFINITY) > now;
  // One instance that cannot be read must not hide all the others.
  const found = isThere ? await readable(world, item.key, () => imageOf(world, item)) : undefined;
  const image = found === "unreadable" ? undefined : found;
  // An id may be used again once its first instance has gone: its row is not for the second.
  const isOfEntry = image && instanceOrder(image.instance) === order;
  if (isOfEntry && (withBuried || !image.instance.erased)) return image;
  const of = found === "unreadable" ? found : image?.instance;
  if (row && isDeadRow(now, row, of)) await world.store.tidy([row.key]);
  return undefined;
}

/**
 * A page of everything that is live, with incidents or without, newest first. It gives ids alone:
 * the caller reads each anyway, and reports what cannot be read instead of leaving it out.
 *
 * An instance that gets an incident, or loses its last, moves from one view to another. If that
 * happens between the reads of the two, neither shows it. So the part that a page covers is read a
 * second time, and what only that shows belongs to the page too: to be missed, an instance would
 * have to move between the reads of both times.
 */
export async function liveIds(
  world: World,
  page: PageRequest,
): Promise<Readonly<{ ids: readonly string[]; nextCursor?: string }>> {
  const sources = await sourcesOf(world, {}, ["live", "incident"]);
  const bounds = boundsOf({}, placeIn(world, LIVE, page.cursor));
  const merged = mergeNewest(sources, bounds, page.limit);
  const found = await merged.take(page.limit);
  const last = merged.isOver() ? undefined : found.at(-1)?.order;
  const covered = { ...bounds, ...defined({ from: last }) };
  const again = await allWithin(sources, covered);
  const byOrder = new Map([...found, ...again].map((it) => [it.order, it.instanceId]));
  return { ids: [...byOrder.values()], ...goingOn(world, LIVE, last) };
}

/** The name of that list in its cursors. */
const LIVE = { list: "live" };

async function allWithin(sources: readonly Source[], bounds: Bounds): Promise<readonly Entry[]> {
  const merged = mergeNewest(sources, bounds, storeLimits.keysPerCall);
  const found: Entry[] = [];
  while (!merged.isOver()) found.push(...(await merged.take(storeLimits.keysPerCall)));
  return found;
}
