/**
 * Resolving many incidents: a page of those that a filter matches, each by its own ticket, as if
 * somebody had called for each. What a worker, a timer or another operator was quicker with is gone
 * by then, which is told and does no harm; an incident that comes anew has a ticket of its own and is
 * not touched.
 */
import { DEFAULT_BULK_SIZE } from "../../definition/limits.ts";
import type { ResolveReport, ResolveRequest } from "../shapes/bulk.ts";
import type { World } from "../world.ts";
import { doEach } from "./each.ts";
import { listIncidents } from "./incidents.ts";
import { resolveIncident } from "./instance-calls.ts";

export async function resolveIncidents(
  world: World,
  request: ResolveRequest,
): Promise<ResolveReport> {
  const { filter = {}, dryRun = true, limit = DEFAULT_BULK_SIZE, cursor } = request;
  const { variables, retries } = request;
  const page = { limit, ...(cursor !== undefined && { cursor }) };
  const found = await listIncidents(world, filter, page);
  const said = { ...(variables && { variables }), ...(retries !== undefined && { retries }) };
  const { items, done, gone, refused } = await doEach(found.items, {
    dryRun,
    as: "resolved",
    act: ({ instanceId, incidentId }) => resolveIncident(world, instanceId, incidentId, said),
  });
  const { nextCursor } = found;
  return {
    dryRun,
    matched: items.length,
    resolved: done,
    gone,
    refused,
    items,
    ...(nextCursor !== undefined && { nextCursor }),
  };
}
