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
import type { Item, Key, Page, Range } from "../../ports/store.ts";
import type { Broadcast } from "../rows/broadcast.ts";
import { addEpoch, allShards, readHead } from "../rows/topic-head.ts";
import { parseRow } from "../rows/wait-row.ts";
import { encodeBody, parseBody } from "../storage/formats.ts";
import { fanOutPlanKey, shardPk, turnKey } from "../storage/keys.ts";
import { putAbsent } from "../storage/put-absent.ts";
import { isDamaged, readableOf } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

/** One page for all, or so many shards. */
export type FanOutPlan = Readonly<{ round: number; shards: number | "one page" }>;

/** The pages of one shard that are sent in one go, by their first rows; `next` begins the rest. */
type Turn = Readonly<{ firsts: readonly string[]; next?: string }>;

/** Decides how this round of a broadcast goes, or reads how it went. */
export async function fanOutPlanOf(
  world: World,
  broadcast: Broadcast,
  round: number,
): Promise<FanOutPlan> {
  const key = fanOutPlanKey(world.settings.tenant, broadcast.id, round);
  const [found] = await world.store.get([key]);
  if (found) return parseFanOutPlan(found);
  const isOnePage = (await rowsIfFew(world, broadcast, ROWS_PER_PAGE)) !== undefined;
  const { head } = await readHead(world, broadcast.topic);
  const road: FanOutPlan = { round, shards: isOnePage ? "one page" : allShards(head).length };
  return parseFanOutPlan(await putAbsent(world, record(broadcast, key, encodeBody("road", road))));
}

export function parseFanOutPlan({ body }: Item): FanOutPlan {
  return parseBody("road", body) as FanOutPlan;
}

/** The pages of a shard from `from` on, with their rows; `next` begins those of the next turn. */
export async function pagesOf(
  world: World,
  broadcast: Broadcast,
  { epoch, shard, page, from, round = 0 }: ShardMessage,
): Promise<Readonly<{ pages: readonly (readonly PagedRow[])[]; next?: string }>> {
  const key = turnKey(world.settings.tenant, broadcast.id, `${round}.${epoch}.${shard}.${page}`);
  const pk = shardPk(world.settings.tenant, broadcast.topic, epoch, shard);
  const [found] = await world.store.get([key]);
  const turn = found
    ? parseTurn(found)
    : parseTurn(await putAbsent(world, turnRecord(broadcast, key, await newTurn(world, pk, from))));
  const { firsts, next } = turn;
  const pages: (readonly PagedRow[])[] = [];
  for (const [n, first] of firsts.entries()) {
    const to = firsts[n + 1] ?? next;
    pages.push(await meantBetween(world, broadcast, pk, first, to));
  }
  const met = (page + firsts.length) * ROWS_PER_PAGE - ROWS_PER_PAGE + (pages.at(-1)?.length ?? 0);
  if (met > MAX_ROWS_PER_SHARD) await addEpoch(world, broadcast.topic, epoch);
  return { pages, ...(next !== undefined && { next }) };
}

async function newTurn(world: World, pk: string, from: string | undefined): Promise<Turn> {
  const firsts: string[] = [];
  let after: string | undefined;
  do {
    const found = await scan(world, pk, { from, limit: ROWS_PER_PAGE, after });
    const first = found.items[0]?.key.sk ?? from ?? BEGIN;
    if (firsts.length === PAGES_PER_TURN) return { firsts, next: first };
    if (found.items.length > 0 || firsts.length === 0) firsts.push(first);
    after = found.next;
  } while (after !== undefined);
  return { firsts };
}

/** Before every row. */
const BEGIN = " ";

/** Rows that the broadcast is for; later ones may have come in between. */
async function meantBetween(
  world: World,
  broadcast: Broadcast,
  pk: string,
  from: string,
  to: string | undefined,
): Promise<readonly PagedRow[]> {
  const rows: PagedRow[] = [];
  let after: string | undefined;
  do {
    const found = await scan(world, pk, { from, to, limit: MAX_READ, after });
    rows.push(...parsed(world, found).filter((row) => isMeant(broadcast, row)));
    after = found.next;
  } while (after !== undefined);
  return rows;
}

const MAX_READ = 1_000;

/** Who began to wait after it was accepted waits for the next; of a kept one nobody is too late. */
export const isMeant = ({ seq, keptFor }: Broadcast, { after }: PagedRow): boolean =>
  after < seq || keptFor !== undefined;

/** All rows that a broadcast is for, in every shard. */
export async function allRows(world: World, broadcast: Broadcast): Promise<readonly PagedRow[]> {
  const { head } = await readHead(world, broadcast.topic);
  const rows: PagedRow[] = [];
  for (const [epoch, shard] of allShards(head)) {
    const pk = shardPk(world.settings.tenant, broadcast.topic, epoch, shard);
    rows.push(...(await meantBetween(world, broadcast, pk, BEGIN, undefined)));
  }
  return rows;
}

/** All rows of a topic, where they are at most this many. */
export async function rowsIfFew(
  world: World,
  broadcast: Broadcast,
  most: number,
): Promise<readonly PagedRow[] | undefined> {
  const { head } = await readHead(world, broadcast.topic);
  const rows: PagedRow[] = [];
  for (const [epoch, shard] of allShards(head)) {
    const pk = shardPk(world.settings.tenant, broadcast.topic, epoch, shard);
    const page = await scan(world, pk, { limit: most - rows.length + 1 });
    rows.push(...parsed(world, page));
    if (rows.length > most || page.next !== undefined) return undefined;
  }
  return rows;
}

/** A row that was damaged leads nowhere: it holds up none of the others. */
const parsed = (world: World, { items }: Page<Item>): readonly PagedRow[] =>
  readableOf(world, items, parseRow, isDamaged);

type Bounds = { [K in keyof Pick<Range, "from" | "to" | "after">]?: Range[K] | undefined };

async function scan(
  world: World,
  pk: string,
  { from, to, after, limit }: Bounds & Readonly<{ limit: number }>,
): Promise<Page<Item>> {
  return world.store.scan(pk, {
    limit,
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(after !== undefined && { after }),
  });
}

const turnRecord = (broadcast: Broadcast, key: Key, turn: Turn): Item =>
  record(broadcast, key, encodeBody("turn", turn));

function record({ at }: Broadcast, key: Key, body: Uint8Array): Item {
  return { key, version: 1, body, expiresAt: instantFrom(at + RECEIPT_MS) };
}

function parseTurn({ body }: Item): Turn {
  return parseBody("turn", body) as Turn;
}
