/**
 * Everything that is live, with incidents or without, by id alone: the caller reads each anyway, and
 * reports what cannot be read instead of leaving it out.
 *
 * An instance that gets an incident, or loses its last, moves from one view to another. If that
 * happens between the reads of the two, neither shows it. So the part that a page covers is read a
 * second time, and what only that shows belongs to the page too: to be missed, an instance would
 * have to move between the reads of both times.
 */
import { storeLimits } from "../../ports/store-rules.ts";
import type { PageRequest } from "../shapes/paging.ts";
import type { World } from "../world.ts";
import { boundsOf, cursorOf, placeIn } from "./filter.ts";
import { type Entry, type Source, sourcesOf } from "./listing-sources.ts";
import { type Bounds, mergeNewest } from "./merge.ts";

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
