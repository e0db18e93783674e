/**
 * What a list is read from: the most selective index that serves its filter. A business key finds
 * few, a tag more; otherwise each combination of phase, definition and shard is a view of its own.
 */
import { MAX_SHARDS } from "../../definition/limits.ts";
import type { Item, Page, Range } from "../../ports/store.ts";
import type { InstanceFilter } from "../shapes/instances.ts";
import {
  definitionsView,
  type FoundBy,
  foundByPk,
  instanceIdOf,
  latestKey,
  PHASES,
  type Phase,
  phaseView,
} from "../storage/keys.ts";
import { readLatest, shardsOf } from "../storage/latest.ts";
import { listPages } from "../storage/scan-all.ts";
import { readable } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { shardsInOrder } from "./shards.ts";

/** An instance that an index shows, by its place among all of them. */
export type Entry = Readonly<{ order: string; instanceId: string; row?: Item }>;

/** One index, read in its order. */
export type Source = (range: Range) => Promise<Page<Entry>>;

/** The indexes that together show all that a filter may match; each instance once at any moment. */
export async function sourcesOf(
  world: World,
  filter: InstanceFilter,
  phases: readonly Phase[] = phasesOf(filter),
): Promise<readonly Source[]> {
  const { definition, businessKey, tag } = filter;
  if (businessKey !== undefined) return [rowsOf(world, { by: "bk", text: businessKey })];
  if (tag !== undefined) return [rowsOf(world, { by: "tag", text: tag })];
  const spread = definition === undefined ? await allSpread(world) : await oneOf(world, definition);
  return spread.flatMap((each) =>
    phases.flatMap((phase) => phaseViews(world, phase, each).map((view) => viewOf(world, view))),
  );
}

/** A definition, and over how many shards its lists are spread. */
type Spread = Readonly<{ id: string; shards: number }>;

/** Every shard of one phase: an instance stays in the one that it was started in. */
export const phaseViews = (world: World, phase: Phase, { id, shards }: Spread): readonly string[] =>
  Array.from({ length: shards }, (_, shard) => phaseView(world.settings.tenant, phase, id, shard));

/**
 * Read strongly: a list of one definition shows at once what a wider spread has started. Where the
 * head cannot be read its instances are looked for wherever they could be.
 */
async function oneOf(world: World, id: string): Promise<readonly Spread[]> {
  const key = latestKey(world.settings.tenant, id);
  const found = await readable(world, key, () => readLatest(world, id));
  if (found === "unreadable") return [{ id, shards: MAX_SHARDS }];
  return found ? [{ id, shards: shardsOf(found.latest) }] : [];
}

const viewOf =
  (world: World, view: string): Source =>
  async (range) => {
    const { items, ...rest } = await world.store.list(view, range);
    const entries = items.map((key) => ({
      order: key.order,
      instanceId: instanceIdOf(key) ?? "",
    }));
    return { ...rest, items: entries };
  };

const rowsOf =
  (world: World, found: FoundBy): Source =>
  async (range) => {
    const pk = foundByPk(world.settings.tenant, found);
    const { items, ...rest } = await world.store.scan(pk, range);
    const entries = items.map((row): Entry => {
      const [, ...id] = row.key.sk.split("#");
      return { order: row.key.sk, instanceId: id.join("#"), row };
    });
    return { ...rest, items: entries };
  };

function phasesOf({ status, incident }: InstanceFilter): readonly Phase[] {
  if (incident) return ["incident"];
  if (status === undefined) return PHASES;
  return status === "running" || status === "suspended" ? ["live", "incident"] : [status];
}

/** Of every definition there ever was: what was undeployed may still have instances. */
async function allSpread({ store, settings }: World): Promise<readonly Spread[]> {
  const spread: Spread[] = [];
  for await (const keys of listPages(store, definitionsView(settings.tenant), { limit: 1_000 })) {
    spread.push(...keys.map(shardsInOrder));
  }
  return spread;
}
