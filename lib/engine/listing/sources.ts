/**
 * What a list is read from: the most selective index that serves its filter. A business key leads
 * to few, a tag to more; otherwise each combination of phase and definition is a view of its own.
 */
import type { Item, Page, Range } from "../../ports/store.ts";
import {
  definitionIdOf,
  definitionsView,
  type FoundBy,
  foundByPk,
  instanceIdOf,
  PHASES,
  type Phase,
  phaseView,
} from "../keys.ts";
import type { InstanceFilter } from "../shapes/instances.ts";
import type { World } from "../world.ts";

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
  const ids = definition === undefined ? await allIds(world) : [definition];
  const { tenant } = world.settings;
  return ids.flatMap((id) => phases.map((phase) => viewOf(world, phaseView(tenant, phase, id))));
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
async function allIds(world: World): Promise<readonly string[]> {
  const ids: string[] = [];
  let after: string | undefined;
  do {
    const view = definitionsView(world.settings.tenant);
    const page = await world.store.list(view, { limit: 1_000, ...(after && { after }) });
    ids.push(...page.items.map(definitionIdOf));
    after = page.next;
  } while (after !== undefined);
  return ids;
}
