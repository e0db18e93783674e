/**
 * Purging: ended instances that nobody needs any more are erased before their time, a page of those
 * that a filter matches. What is live is never matched, and erasing refuses it besides. What
 * somebody has begun to erase is matched until nothing is left of it.
 */
import { DEFAULT_BULK_SIZE } from "../../definition/limits.ts";
import { formatInstant } from "../../definition/time/instant.ts";
import type { Instance } from "../../kernel/instance.ts";
import type { EndedInstance, PurgeReport, PurgeRequest } from "../shapes/bulk.ts";
import type { World } from "../world.ts";
import { doEach } from "./each.ts";
import { erase } from "./erase.ts";
import { cursorOf, instantOf, matches, placeIn } from "./filter.ts";
import { readPage } from "./listing.ts";
import { sourcesOf } from "./listing-sources.ts";

export async function purge(world: World, request: PurgeRequest): Promise<PurgeReport> {
  const { filter = {}, dryRun = true, limit = DEFAULT_BULK_SIZE, cursor } = request;
  const { endedBefore, ...ofInstances } = filter;
  const before = endedBefore === undefined ? undefined : instantOf(endedBefore);
  const list = { list: "purge", filter };
  const { images, last } = await readPage(world, {
    sources: await sourcesOf(world, ofInstances, filter.status ? [filter.status] : ENDED),
    // Nothing that started later has ended before it.
    filter: endedBefore === undefined ? {} : { startedBefore: endedBefore },
    behind: placeIn(world, list, cursor),
    limit,
    withBuried: true,
    wants: ({ instance }) =>
      instance.endedAt !== undefined &&
      (before === undefined || instance.endedAt < before) &&
      matches(world, instance, ofInstances),
  });
  const { items, done, gone, refused } = await doEach(
    images.flatMap(({ instance }) => viewEnded(instance)),
    { dryRun, as: "purged", act: ({ instanceId }) => erase(world, instanceId) },
  );
  return {
    dryRun,
    matched: items.length,
    purged: done,
    gone,
    refused,
    items,
    ...(last !== undefined && { nextCursor: cursorOf(world, list, last) }),
  };
}

const ENDED = ["succeeded", "failed", "cancelled"] as const;

function viewEnded({ id, definition, status, endedAt }: Instance): readonly EndedInstance[] {
  if (status === "live" || endedAt === undefined) return [];
  const about = { id: definition.id, version: definition.version };
  return [{ instanceId: id, definition: about, status, endedAt: formatInstant(endedAt) }];
}
