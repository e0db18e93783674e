/**
 * A broadcast reaches everybody: it becomes one message per shard, those become pages of rows, and
 * a page is delivered row by row. Each message is a trigger: it stays queued until what it owes has
 * left, and doing it twice changes nothing.
 */
import {
  MAX_ROWS_PER_SHARD,
  PAGES_PER_TURN,
  ROWS_AT_ONCE,
  ROWS_PER_PAGE,
} from "../../definition/limits.ts";
import type {
  BroadcastMessage,
  Invocation,
  PagedRow,
  PageMessage,
  ShardMessage,
  Verdict,
} from "../../ports/message.ts";
import type { Page } from "../../ports/store.ts";
import { shardPk } from "../keys.ts";
import type { World } from "../world.ts";
import { type Broadcast, markFannedOut, readBroadcast } from "./broadcast.ts";
import { deliver } from "./deliver.ts";
import type { Deliverer, Fared } from "./fared.ts";
import { addEpoch, allShards, readHead } from "./head.ts";
import {
  areComplete,
  type Counts,
  type PageRecord,
  pageName,
  putPage,
  readPages,
  roundOf,
} from "./receipt.ts";
import { parseRow } from "./row.ts";

type Shard = readonly [epoch: number, shard: number];

/** The bus's copy of a broadcast: one page where that holds them all, else a message per shard. */
export async function fanOut(
  world: World,
  message: BroadcastMessage,
  invocation: Invocation,
): Promise<Verdict> {
  const broadcast = await readBroadcast(world, message.broadcastId);
  if (broadcast === undefined) return "release";
  const round = await roundHere(world, broadcast);
  if (round === undefined) return settleDown(world, broadcast);
  const rows = await rowsIfFew(world, broadcast, ROWS_PER_PAGE);
  const { tenant, broadcastId } = message;
  const whole = { page: pageName(round, ONE_PAGE), shards: 1 };
  if (rows && world.settings.volatileQueues) {
    await deliverRows(world, broadcast, { ...whole, rows, last: "all" }, invocation);
    return settleDown(world, broadcast);
  }
  if (rows) {
    // What comes twice must lead to the same rows, also when one of the two finds some gone.
    await world.pages.send({ kind: "page", tenant, broadcastId, ...whole, rows, last: true });
    return "release";
  }
  const { head } = await readHead(world, broadcast.topic);
  const all = allShards(head);
  const about = { kind: "shard", tenant, broadcastId, shards: all.length, page: 0 } as const;
  const common = { ...about, ...(round > 0 && { round }) };
  for (const [epoch, shard] of all) await world.pages.send({ ...common, epoch, shard });
  return settleDown(world, broadcast);
}

const ONE_PAGE = "all";

/**
 * Queues in memory die with their process, and the next one begins anew, with the rows that are
 * left: its pages have names of their own, so that both are counted. Undefined: all is done.
 */
async function roundHere(world: World, { id }: Broadcast): Promise<number | undefined> {
  if (!world.settings.volatileQueues) return 0;
  const pages = await readPages(world, id);
  if (areComplete(pages)) return undefined;
  const here = rounds.get(world) ?? new Map<string, number>();
  rounds.set(world, here);
  // The same broadcast may be published twice in one life: it stays the same round.
  const round = here.get(id) ?? Math.max(-1, ...pages.map(({ page }) => roundOf(page))) + 1;
  here.set(id, round);
  return round;
}

/** Rounds of the broadcasts that are under way in this process. */
const rounds = new WeakMap<World, Map<string, number>>();

/**
 * With queues in memory the broadcast is looked after until everybody is reached: a restart before
 * that begins anew. Its message is what waits for it.
 */
async function settleDown(world: World, broadcast: Broadcast): Promise<Verdict> {
  if (!world.settings.volatileQueues) return "release";
  if (await isOver(world, broadcast)) return "release";
  const { tenant } = world.settings;
  await world.pages.send({ kind: "watch", tenant, broadcastId: broadcast.id }, WATCH_MS);
  return "release";
}

const WATCH_MS = 100;

/** Looks whether a broadcast has reached everybody by now. */
export async function watch(
  world: World,
  { broadcastId }: Readonly<{ broadcastId: string }>,
): Promise<Verdict> {
  const broadcast = await readBroadcast(world, broadcastId);
  if (broadcast === undefined) return "release";
  return (await isOver(world, broadcast)) ? "release" : { keepForMs: WATCH_MS };
}

async function isOver(world: World, broadcast: Broadcast): Promise<boolean> {
  if (!areComplete(await readPages(world, broadcast.id))) return false;
  await markFannedOut(world, broadcast);
  rounds.get(world)?.delete(broadcast.id);
  return true;
}

/** Pages through one shard; a long one is handed on with its cursor. */
export async function pageShard(world: World, message: ShardMessage): Promise<Verdict> {
  const { tenant, broadcastId, shards, epoch, shard, round = 0 } = message;
  const broadcast = await readBroadcast(world, broadcastId);
  if (broadcast === undefined) return "release";
  let { page, after } = message;
  for (let turn = 0; turn < PAGES_PER_TURN; turn++) {
    const found = await readRows(world, broadcast, [epoch, shard], ROWS_PER_PAGE, after);
    const last = found.next === undefined;
    const name = pageName(round, `${epoch}.${shard}.${page}`);
    const rows = found.items;
    await world.pages.send({ kind: "page", tenant, broadcastId, shards, page: name, last, rows });
    const met = page * ROWS_PER_PAGE + rows.length;
    if (met > MAX_ROWS_PER_SHARD) await addEpoch(world, broadcast.topic, epoch);
    if (found.next === undefined) return "release";
    page += 1;
    after = found.next;
  }
  await world.pages.send({ ...message, page, ...(after !== undefined && { after }) });
  return "release";
}

/** Delivers to the rows of one page. */
export async function deliverPage(
  world: World,
  { broadcastId, shards, page, last, rows }: PageMessage,
  invocation: Invocation,
): Promise<Verdict> {
  const broadcast = await readBroadcast(world, broadcastId);
  if (broadcast === undefined) return "release";
  const [only, ...others] = rows;
  if (only && others.length === 0 && page.includes("+")) {
    return deliverAlone(world, broadcast, page, only, invocation);
  }
  const end = page === ONE_PAGE ? "all" : "shard";
  const part = { page, rows, last: last && end, shards } as const;
  await deliverRows(world, broadcast, part, invocation);
  return "release";
}

/** Its page is its own: it comes back by itself until it is done. */
async function deliverAlone(
  world: World,
  broadcast: Broadcast,
  page: string,
  row: PagedRow,
  invocation: Invocation,
): Promise<Verdict> {
  const fared = await deliver(world, broadcast, row, invocation);
  if (fared.kind === "later") return { keepForMs: fared.ms };
  const record = { page, last: false, awaits: [], ...countsOf([fared]) } as const;
  await endPage(world, broadcast, record, [fared]);
  return "release";
}

/** A row that must wait, or that fails, leaves as a page of its own: it holds nobody else up. */
async function deliverRows(
  world: World,
  broadcast: Broadcast,
  { rows, ...about }: Pick<PageRecord, "page" | "last" | "shards"> & { rows: readonly PagedRow[] },
  invocation: Invocation,
): Promise<void> {
  const fared: Fared[] = [];
  const awaits: string[] = [];
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const some = rows.slice(from, from + ROWS_AT_ONCE);
    const results = await Promise.all(
      some.map((row) => attempt(world, broadcast, row, invocation)),
    );
    for (const [n, result] of results.entries()) {
      const row = some[n];
      if (result.kind !== "later" || row === undefined) fared.push(result);
      else
        awaits.push(await sendAlone(world, broadcast, `${about.page}+${from + n}`, row, result.ms));
    }
  }
  await endPage(world, broadcast, { ...about, awaits, ...countsOf(fared) }, fared);
}

/**
 * The rows that may go leave together with the record that counts them. A store that commits in
 * groups does both or neither: whoever dies before that finds the rows again, and counts them.
 */
async function endPage(
  world: World,
  broadcast: Broadcast,
  record: PageRecord,
  fared: readonly Fared[],
): Promise<void> {
  const dead = fared.flatMap((it) => (it.kind !== "later" && it.dead ? [it.dead] : []));
  const gone = dead.length > 0 ? world.store.tidy(dead) : undefined;
  await Promise.all([gone, putPage(world, broadcast, record)]);
}

/** What goes wrong with one row is told, and tried again later. */
export async function attempt(
  world: World,
  broadcast: Broadcast,
  row: PagedRow,
  by: Deliverer,
): Promise<Fared> {
  try {
    return await deliver(world, broadcast, row, by);
  } catch (error) {
    world.onTrouble?.(`broadcast ${broadcast.id} to ${row.sk}`, error);
    return { kind: "later", ms: FAILED_MS };
  }
}

const FAILED_MS = 1_000;

async function sendAlone(
  world: World,
  { id: broadcastId }: Broadcast,
  page: string,
  row: PagedRow,
  afterMs: number,
): Promise<string> {
  const { tenant } = world.settings;
  const about = { tenant, broadcastId, shards: 1, page, last: false } as const;
  await world.pages.send({ kind: "page", ...about, rows: [row] }, afterMs);
  return page;
}

/** All rows of a topic, where they are at most this many. */
export async function rowsIfFew(
  world: World,
  broadcast: Broadcast,
  most: number,
): Promise<readonly PagedRow[] | undefined> {
  const { head } = await readHead(world, broadcast.topic);
  const rows: PagedRow[] = [];
  for (const shard of allShards(head)) {
    const page = await readRows(world, broadcast, shard, most - rows.length + 1, undefined);
    rows.push(...page.items);
    if (rows.length > most || page.next !== undefined) return undefined;
  }
  return rows;
}

async function readRows(
  world: World,
  { topic }: Broadcast,
  [epoch, shard]: Shard,
  limit: number,
  after: string | undefined,
): Promise<Page<PagedRow>> {
  const pk = shardPk(world.settings.tenant, topic, epoch, shard);
  const page = await world.store.scan(pk, { limit, ...(after !== undefined && { after }) });
  return { ...page, items: page.items.map(parseRow) };
}

export function countsOf(fared: readonly Fared[]): Counts {
  const count = (kind: Fared["kind"]) => fared.filter((it) => it.kind === kind).length;
  const failed = fared.flatMap((it) => (it.kind === "failed" ? [it.failed] : []));
  const delivered = count("delivered");
  const skipped = count("skipped");
  const started = count("started");
  const expired = count("expired");
  const matched = delivered + skipped + started + expired + failed.length;
  return { matched, delivered, skipped, started, expired, failed };
}
