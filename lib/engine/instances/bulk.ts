/**
 * Many at once: a page of what a filter matches, each by itself. What cannot be done to one does not
 * stop the rest; what another request, a worker or a timer was quicker with is gone, which is
 * reported and does no harm.
 */
import { DEFAULT_BULK_SIZE } from "../../definition/limits.ts";
import { formatInstant } from "../../definition/time/instant.ts";
import type { Instance } from "../../kernel/instance.ts";
import { EngineError, type ErrorCode } from "../../ports/engine-error.ts";
import type {
  BulkOutcome,
  EndedInstance,
  PurgeReport,
  PurgeRequest,
  ResolveReport,
  ResolveRequest,
} from "../shapes/bulk.ts";
import { defined } from "../storage/defined.ts";
import type { World } from "../world.ts";
import { erase } from "./erase.ts";
import { cursorOf, instantOf, matches, placeIn } from "./filter.ts";
import { listIncidents } from "./incidents.ts";
import { resolveIncident } from "./instance-calls.ts";
import { readPage } from "./listing.ts";
import { sourcesOf } from "./listing-sources.ts";

/** Resolves incidents, each by its ticket: one that comes anew has another ticket and stays. */
export async function resolveIncidents(
  world: World,
  request: ResolveRequest,
): Promise<ResolveReport> {
  const { filter = {}, dryRun, limit = DEFAULT_BULK_SIZE, cursor, variables, retries } = request;
  const found = await listIncidents(world, filter, { limit, ...defined({ cursor }) });
  const said = defined({ variables, retries });
  const report = await doEach(found.items, {
    dryRun,
    as: "resolved",
    act: ({ instanceId, incidentId }) => resolveIncident(world, { instanceId, incidentId }, said),
  });
  return { ...report, ...defined({ nextCursor: found.nextCursor }) };
}

/**
 * Erases ended instances before their time. What is live is never matched, and erasing refuses it
 * besides. An instance whose erasing has begun is matched until nothing is left of it.
 */
export async function purge(world: World, request: PurgeRequest): Promise<PurgeReport> {
  const { filter = {}, dryRun, limit = DEFAULT_BULK_SIZE, cursor } = request;
  const { endedBefore, ...ofInstances } = filter;
  const before = endedBefore === undefined ? undefined : instantOf(endedBefore);
  const list = { list: "purge", filter };
  const { images, last } = await readPage(world, {
    sources: await sourcesOf(world, ofInstances, filter.status ? [filter.status] : ENDED),
    // Nothing that started later has ended before it.
    filter: defined({ startedBefore: endedBefore }),
    behind: placeIn(world, list, cursor),
    limit,
    withBuried: true,
    wants: ({ instance }) =>
      instance.endedAt !== undefined &&
      (before === undefined || instance.endedAt < before) &&
      matches(world, instance, ofInstances),
  });
  const report = await doEach(
    images.flatMap(({ instance }) => viewEnded(instance)),
    { dryRun, as: "purged", act: ({ instanceId }) => erase(world, instanceId) },
  );
  return { ...report, ...(last !== undefined && { nextCursor: cursorOf(world, list, last) }) };
}

const ENDED = ["succeeded", "failed", "cancelled"] as const;

function viewEnded({ id, definition, status, endedAt }: Instance): readonly EndedInstance[] {
  if (status === "live" || endedAt === undefined) return [];
  const about = { id: definition.id, version: definition.version };
  return [{ instanceId: id, definition: about, status, endedAt: formatInstant(endedAt) }];
}

type Act<T, As> = Readonly<{
  /** True by default: the report only says to which it would be done. */
  dryRun: boolean | undefined;
  as: As;
  act: (each: T) => Promise<unknown>;
}>;

/** Does it to each, one after the other, and reports how each fared. */
async function doEach<T extends object, const As extends string>(
  found: readonly T[],
  { dryRun = true, as, act }: Act<T, As>,
) {
  const items: (T & BulkOutcome<As>)[] = [];
  for (const each of found) {
    const fared: BulkOutcome<As> = dryRun
      ? { outcome: "matched" }
      : await fare(as, () => act(each));
    items.push({ ...each, ...fared });
  }
  const count = (outcome: BulkOutcome<As>["outcome"]) =>
    items.filter((item) => item.outcome === outcome).length;
  const done = { [as]: count(as) } as Readonly<Record<As, number>>;
  const others = { gone: count("gone"), refused: count("refused") };
  return { dryRun, matched: items.length, ...done, ...others, items };
}

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
