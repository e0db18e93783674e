/**
 * Bulk operations: one page of what a filter matches, one after the other. A failure does not stop
 * the rest. What another request, a worker or a timer has handled first is reported as gone. When the
 * time of the call is over, the page ends early, behind the last one that was handled.
 */
import { DEFAULT_BULK_SIZE, MAX_BULK_MS } from "../../definition/limits.ts";
import { formatInstant } from "../../definition/time/instant.ts";
import { EngineError, type ErrorCode } from "../../ports/engine-error.ts";
import type {
  BulkOutcome,
  EndedInstance,
  PurgeReport,
  PurgeRequest,
  ResolveReport,
  ResolveRequest,
} from "../../shapes/bulk.ts";
import { defined } from "../storage/defined.ts";
import { instanceOrder } from "../storage/keys.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { erase } from "./erase.ts";
import { goingOn, instantOf, placeIn } from "./filter.ts";
import { findIncidents, incidentList, type Placed } from "./incidents.ts";
import { resolveIncident } from "./instance-calls.ts";
import { readPage } from "./listing.ts";

/** Resolves incidents, each by its ticket: one that comes anew has another ticket and stays. */
export async function resolveIncidents(
  world: World,
  request: ResolveRequest,
): Promise<ResolveReport> {
  const { filter = {}, dryRun, limit = DEFAULT_BULK_SIZE, cursor, variables, retries } = request;
  const until = world.clock.now() + MAX_BULK_MS;
  const { found, next } = await findIncidents(world, filter, { limit, ...defined({ cursor }) });
  const said = defined({ variables, retries });
  const { report, last = next } = await doEach(world, found, {
    dryRun,
    until,
    as: "resolved",
    act: ({ instanceId, incidentId }) => resolveIncident(world, instanceId, incidentId, said),
  });
  return { ...report, ...goingOn(world, incidentList(filter), last) };
}

/**
 * Erases ended instances before their time. What is live is never matched, and erasing refuses it
 * besides. An instance whose erasing has begun is matched until nothing is left of it.
 */
export async function purge(world: World, request: PurgeRequest): Promise<PurgeReport> {
  const { filter = {}, dryRun, limit = DEFAULT_BULK_SIZE, cursor } = request;
  const { endedBefore, ...ofInstances } = filter;
  const before = instantOf(endedBefore);
  const list = { list: "purge", filter };
  const until = world.clock.now() + MAX_BULK_MS;
  const { images, last: next } = await readPage(world, {
    // Nothing that started later has ended before it.
    filter: { ...ofInstances, ...defined({ startedBefore: endedBefore }) },
    phases: filter.status ? [filter.status] : ENDED,
    behind: placeIn(world, list, cursor),
    limit,
    withBuried: true,
    wants: ({ endedAt }) => endedAt !== undefined && (before === undefined || endedAt < before),
  });
  const { report, last = next } = await doEach(world, images.flatMap(placeEnded), {
    dryRun,
    until,
    as: "purged",
    act: ({ instanceId }) => erase(world, instanceId),
  });
  return { ...report, ...goingOn(world, list, last) };
}

const ENDED = ["succeeded", "failed", "cancelled"] as const;

function placeEnded({ instance }: Image): readonly Placed<EndedInstance>[] {
  const { id, definition, status, endedAt } = instance;
  if (status === "live" || endedAt === undefined) return [];
  const about = { id: definition.id, version: definition.version };
  const item = { instanceId: id, definition: about, status, endedAt: formatInstant(endedAt) };
  return [{ item, place: instanceOrder(instance) }];
}

type Act<T, As> = Readonly<{
  /** True by default: the report only says to which it would be done. */
  dryRun: boolean | undefined;
  /** No further one is begun from then on; the first one always is, so that the list goes on. */
  until: number;
  as: As;
  act: (each: T) => Promise<unknown>;
}>;

/**
 * Does it to each, one after the other, and reports how each fared. If time was up before the last
 * one, `last` is the place of the one it got to.
 */
async function doEach<T extends object, const As extends string>(
  world: World,
  found: readonly Placed<T>[],
  { dryRun = true, until, as, act }: Act<T, As>,
) {
  const items: (T & BulkOutcome<As>)[] = [];
  for (const { item } of found) {
    if (!dryRun && items.length > 0 && world.clock.now() >= until) break;
    const fared = dryRun ? MATCHED : await fare(as, () => act(item));
    items.push({ ...item, ...fared });
  }
  const last = items.length < found.length ? found[items.length - 1]?.place : undefined;
  const count = (outcome: BulkOutcome<As>["outcome"]) =>
    items.filter((item) => item.outcome === outcome).length;
  const done = { [as]: count(as) } as Readonly<Record<As, number>>;
  const others = { gone: count("gone"), refused: count("refused") };
  const report = { dryRun, matched: items.length, ...done, ...others, items };
  return { report, last };
}

const MATCHED = { outcome: "matched" } as const;

async function fare<As extends string>(
  as: As,
  act: () => Promise<unknown>,
): Promise<BulkOutcome<As>> {
  try {
    await act();
    return { outcome: as };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const { code, message } = error;
    return GONE.includes(code)
      ? { outcome: "gone" }
      : { outcome: "refused", problem: { code, message } };
  }
}

/** Refusals which mean that it was done already. */
const GONE: readonly ErrorCode[] = ["incident/not-found", "instance/not-found"];
