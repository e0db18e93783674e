/**
 * What a list is read from: the most selective index that serves its filter. A business key leads
 * to few, a tag to more; otherwise each combination of phase, definition and shard is a view of its own.
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
  return spread.flatMap((each) => phases.flatMap((phase) => viewsOf(world, phase, each)));
}

/** A definition, and over how many shards its lists are spread. */
type Spread = Readonly<{ id: string; shards: number }>;

/** Every shard of one phase: an instance stays in the one that it was started in. */
export const phaseViews = (world: World, phase: Phase, { id, shards }: Spread): readonly string[] =>
  Array.from({ length: shards }, (_, shard) => phaseView(world.settings.tenant, phase, id, shard));

const viewsOf = (world: World, phase: Phase, spread: Spread): readonly Source[] =>
  phaseViews(world, phase, spread).map((view) => viewOf(world, view));

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
    const page = await world.store.list(view, range);
    const entries = page.items.map((key) => {
      return { order: key.order, instanceId: instanceIdOf(key) ?? "" };
    });
    return { ...page, items: entries };
  };

const rowsOf =
  (world: World, found: FoundBy): Source =>
  async (range) => {
    const page = await world.store.scan(foundByPk(world.settings.tenant, found), range);
    const entries = page.items.map((row): Entry => {
      const [, ...id] = row.key.sk.split("#");
      return { order: row.key.sk, instanceId: id.join("#"), row };
    });
    return { ...page, items: entries };
  };

function phasesOf({ status, incident }: InstanceFilter): readonly Phase[] {
  if (incident) return ["incident"];
  if (status === undefined) return PHASES;
  switch (status) {
    case "running":
    case "suspended":
      return ["live", "incident"];
    case "succeeded":
    case "failed":
    case "cancelled":
      return [status];
  }
}

/** Of every definition there ever was: what was undeployed may still have instances. */
async function allSpread(world: World): Promise<readonly Spread[]> {
  const spread: Spread[] = [];
  let after: string | undefined;
  do {
    const view = definitionsView(world.settings.tenant);
    const page = await world.store.list(view, { limit: 1_000, ...(after && { after }) });
    spread.push(...page.items.map(shardsInOrder));
    after = page.next;
  } while (after !== undefined);
  return spread;
}
