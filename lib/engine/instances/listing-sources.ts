/**
 * What a list is read from: the most selective index that serves its filter. A business key finds
 * few, a tag more; otherwise each combination of phase, definition and shard is a view of its own.
 */
import { MAX_SHARDS } from "../../definition/limits.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Item, ListedKey, Page, Range } from "../../ports/store.ts";
import type { ListingView } from "../../shapes/definitions.ts";
import type { InstanceFilter } from "../../shapes/instances.ts";
import { defined } from "../storage/defined.ts";
import { listPages } from "../storage/items.ts";
import {
  definitionIdOf,
  definitionsView,
  type FoundBy,
  foundByPk,
  instanceIdOf,
  latestKey,
  PHASES,
  type Phase,
  phaseView,
} from "../storage/keys.ts";
import { changeLatest, deployed, type Latest, readLatest, shardsOf } from "../storage/latest.ts";
import { readable } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import type { Bounds } from "./filter.ts";

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

/**
 * A definition, and over how many shards its lists are spread. An index takes about a thousand writes
 * a second in one partition, and a phase change is two of them: a definition with more needs more
 * partitions, or the index pushes back on the writes of instances.
 *
 * 1. The head of the definition has the number. A start goes by what it has read there, its instance
 *    keeps the shard, and the number only grows: a reader of the head after the instance was
 *    committed reads every shard that it can be in.
 * 2. The index of definitions has the number too, in the order of an entry: a list of all definitions
 *    reads no head. It may lag, as the listing itself does.
 */
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
  ({ store }: World, view: string): Source =>
  async (range) => {
    const page = await store.list(view, range);
    const items = page.items.map((it) => ({ order: it.order, instanceId: instanceIdOf(it) ?? "" }));
    return { ...page, items };
  };

const rowsOf =
  ({ store, settings }: World, found: FoundBy): Source =>
  async (range) => {
    const page = await store.scan(foundByPk(settings.tenant, found), range);
    const items = page.items.map((row) => {
      const order = row.key.sk;
      return { order, instanceId: order.slice(order.indexOf("#") + 1), row };
    });
    return { ...page, items };
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

/**
 * Reads several indexes as one, the newest first: only keys, so that looking ahead costs little. Of
 * each source, the first time so many are read that the page probably needs no second time.
 */
export function mergeNewest(sources: readonly Source[], bounds: Bounds, limit: number) {
  const share = Math.ceil((2 * limit) / Math.max(1, sources.length));
  const ahead = Math.min(limit, Math.max(MIN_AHEAD, share));
  const heads = sources.map((source): Head => ({ source, ahead, buffer: [], ended: false }));
  let last: string | undefined;
  return {
    /** Up to so many, each order once; fewer only at the end. */
    take: async (count: number): Promise<readonly Entry[]> => {
      const taken: Entry[] = [];
      while (taken.length < count) {
        await Promise.all(heads.map((head) => refill(head, bounds)));
        const entry = newestOf(heads)?.buffer.shift();
        if (entry === undefined) break;
        // It changed its phase between the reads of two views, and stands in both.
        if (entry.order !== last) taken.push(entry);
        last = entry.order;
      }
      return taken;
    },
    /** Nothing is left, as far as was read. */
    isOver: () => heads.every(({ buffer, ended }) => ended && buffer.length === 0),
  };
}

const MIN_AHEAD = 4;
const MAX_AHEAD = 100;

/** How far a source has been read. */
type Head = {
  readonly source: Source;
  ahead: number;
  buffer: Entry[];
  /** The store's cursor. */
  after?: string | undefined;
  ended: boolean;
};

async function refill(head: Head, bounds: Bounds): Promise<void> {
  while (head.buffer.length === 0 && !head.ended) {
    const { ahead: limit, after } = head;
    const range = { ...bounds, limit, backwards: true, ...defined({ after }) } as const;
    const { items, next } = await head.source(range);
    head.buffer.push(...items);
    head.after = next;
    head.ended = next === undefined;
    head.ahead = Math.min(MAX_AHEAD, head.ahead * 2);
  }
}

function newestOf(heads: readonly Head[]): Head | undefined {
  let newest: Head | undefined;
  for (const head of heads) {
    const order = head.buffer[0]?.order ?? "";
    if (order > (newest?.buffer[0]?.order ?? "")) newest = head;
  }
  return newest;
}

/** How the lists of a definition are spread. */
export async function getListing(world: World, id: string): Promise<ListingView> {
  return viewListing((await deployed(world, id)).latest);
}

/** Spreads the instances that start from now on over more shards. */
export async function setListing(
  world: World,
  id: string,
  { shards }: Readonly<{ shards: number }>,
): Promise<ListingView> {
  const latest = await changeLatest(world, id, async ({ latest }) => {
    const before = shardsOf(latest);
    if (shards < before) throw fewer(id, before);
    return shards === before ? undefined : { latest: { ...latest, shards } };
  });
  return viewListing(latest);
}

const viewListing = (latest: Latest): ListingView => ({
  definition: latest.id,
  shards: shardsOf(latest),
});

/** A definition that the index of definitions shows, and over how many shards it is spread. */
function shardsInOrder(entry: ListedKey): Spread {
  const id = definitionIdOf(entry);
  const number = entry.order.slice(id.length + 1);
  return { id, shards: number === "" ? 1 : Number(number) };
}

const fewer = (id: string, before: number): EngineError =>
  new EngineError("definition/fewer-shards", {
    happened: `The definition has ${before} shards, and instances in all of them`,
    where: `definition ${id}`,
    fix: `Give ${before} or more: the number only grows.`,
  });
