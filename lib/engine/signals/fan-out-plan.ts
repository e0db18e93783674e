/**
 * How a broadcast is split is decided once and stored before anything leaves. A part that comes
 * twice, when rows have gone and others have come, is split as it was the first time: every row is
 * on the same page, and every page is counted once.
 */
import {
  MAX_ROWS_PER_SHARD,
  PAGES_PER_TURN,
  RECEIPT_MS,
  ROWS_PER_PAGE,
} from "../../definition/limits.ts";
import { instantFrom } from "../../definition/time/instant.ts";
import type { PagedRow, ShardMessage } from "../../ports/message.ts";
import type { Item, Key, Range } from "../../ports/store.ts";
import type { Broadcast } from "../rows/broadcast.ts";
import { addEpoch, allShards, readHead } from "../rows/topic-head.ts";
import { parseRow } from "../rows/wait-row.ts";
import { defined } from "../storage/defined.ts";
import { encodeBody, parserOf } from "../storage/formats.ts";
import { eachPage, putAbsent } from "../storage/items.ts";
import { fanOutPlanKey, shardPk, turnKey } from "../storage/keys.ts";
import { isDamaged, readableOf } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

/** One page for all, or so many shards. */
export type FanOutPlan = Readonly<{ round: number; shards: number | "one page" }>;

/** The pages of one shard that are sent in one go, by their first rows; `next` begins the rest. */
type Turn = Readonly<{ firsts: readonly string[]; next?: string }>;

const parseTurn = parserOf<Turn>("turn");

/** Decides how this round of a broadcast goes, or reads how it went. */
export async function fanOutPlanOf(
  world: World,
  broadcast: Broadcast,
  round: number,
): Promise<FanOutPlan> {
  const key = fanOutPlanKey(world.settings.tenant, broadcast.id, round);
  const decided = await decidedOnce(world, broadcast, key, async () => {
    const isOnePage = (await rowsIfFew(world, broadcast, ROWS_PER_PAGE)) !== undefined;
    const { head } = await readHead(world, broadcast.topic);
    return encodeBody("road", { round, shards: isOnePage ? "one page" : allShards(head).length });
  });
  return parseFanOutPlan(decided);
}

export const parseFanOutPlan = parserOf<FanOutPlan>("road");

/** What is stored under this key, or else what `decide` gives: the first to be stored counts. */
async function decidedOnce(
  world: World,
  { at }: Broadcast,
  key: Key,
  decide: () => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const [found] = await world.store.get([key]);
  if (found) return found.body;
  const expiresAt = instantFrom(at + RECEIPT_MS);
  return (await putAbsent(world, { key, version: 1, body: await decide(), expiresAt })).body;
}

/** The pages of a shard from `from` on, with their rows; `next` begins those of the next turn. */
export async function pagesOf(
  world: World,
  broadcast: Broadcast,
  { epoch, shard, page, from, round = 0 }: ShardMessage,
): Promise<Readonly<{ pages: readonly (readonly PagedRow[])[]; next?: string }>> {
  const key = turnKey(world.settings.tenant, broadcast.id, `${round}.${epoch}.${shard}.${page}`);
  const pk = shardPk(world.settings.tenant, broadcast.topic, epoch, shard);
  const decide = async () => encodeBody("turn", await newTurn(world, pk, from));
  const { firsts, next } = parseTurn(await decidedOnce(world, broadcast, key, decide));
  const pages: (readonly PagedRow[])[] = [];
  for (const [n, first] of firsts.entries()) {
    const bounds = { from: first, ...defined({ to: firsts[n + 1] ?? next }) };
    pages.push(await meantBetween(world, broadcast, pk, bounds));
  }
  const met = (page + firsts.length) * ROWS_PER_PAGE - ROWS_PER_PAGE + (pages.at(-1)?.length ?? 0);
  if (met > MAX_ROWS_PER_SHARD) await addEpoch(world, broadcast.topic, epoch);
  return { pages, ...defined({ next }) };
}

async function newTurn(world: World, pk: string, from: string | undefined): Promise<Turn> {
  const firsts: string[] = [];
  const range = { limit: ROWS_PER_PAGE, ...defined({ from }) };
  for await (const items of eachPage((after) => world.store.scan(pk, { ...range, ...after }))) {
    const first = items[0]?.key.sk ?? from ?? BEGIN;
    if (firsts.length === PAGES_PER_TURN) return { firsts, next: first };
    if (items.length > 0 || firsts.length === 0) firsts.push(first);
  }
  return { firsts };
}

/** Before every row. */
const BEGIN = " ";

/** Rows that the broadcast is for; later ones may have come in between. */
async function meantBetween(
  world: World,
  broadcast: Broadcast,
  pk: string,
  bounds: Pick<Range, "from" | "to">,
): Promise<readonly PagedRow[]> {
  const rows: PagedRow[] = [];
  const range = { ...bounds, limit: MAX_READ };
  for await (const items of eachPage((after) => world.store.scan(pk, { ...range, ...after }))) {
    rows.push(...parsed(world, items).filter((row) => isMeant(broadcast, row)));
  }
  return rows;
}

const MAX_READ = 1_000;

/** A wait that was opened after it was accepted is for the next one; for a kept one none is too late. */
export const isMeant = ({ seq, keptFor }: Broadcast, { after }: PagedRow): boolean =>
  after < seq || keptFor !== undefined;

/** All rows that a broadcast is for, in every shard. */
export async function allRows(world: World, broadcast: Broadcast): Promise<readonly PagedRow[]> {
  const rows: PagedRow[] = [];
  for (const pk of await shardsOf(world, broadcast)) {
    rows.push(...(await meantBetween(world, broadcast, pk, { from: BEGIN })));
  }
  return rows;
}

/** All rows of a topic, where they are at most this many. */
export async function rowsIfFew(
  world: World,
  broadcast: Broadcast,
  most: number,
): Promise<readonly PagedRow[] | undefined> {
  const rows: PagedRow[] = [];
  for (const pk of await shardsOf(world, broadcast)) {
    const page = await world.store.scan(pk, { limit: most - rows.length + 1 });
    rows.push(...parsed(world, page.items));
    if (rows.length > most || page.next !== undefined) return undefined;
  }
  return rows;
}

async function shardsOf(world: World, { topic }: Broadcast): Promise<readonly string[]> {
  const { head } = await readHead(world, topic);
  return allShards(head).map(([epoch, n]) => shardPk(world.settings.tenant, topic, epoch, n));
}

/** Damaged rows are left out: they must not delay the others. */
const parsed = (world: World, items: readonly Item[]): readonly PagedRow[] =>
  readableOf(world, items, parseRow, isDamaged);
