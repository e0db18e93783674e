/**
 * A broadcast reaches every wait: it becomes one message per shard, those become pages of rows, and
 * a page is delivered row by row. Each message is a trigger: it stays queued until what it owes has
 * left, and doing it twice changes nothing.
 */
import { ROWS_AT_ONCE } from "../../definition/limits.ts";
import type {
  BroadcastMessage,
  Invocation,
  PagedRow,
  PageMessage,
  ShardMessage,
  Verdict,
} from "../../ports/message.ts";
import { type Broadcast, markFannedOut, readBroadcast } from "../rows/broadcast.ts";
import { firstShards } from "../rows/topic-head.ts";
import type { World } from "../world.ts";
import { deliver } from "./deliver.ts";
import { allRows, fanOutPlanOf, pagesOf } from "./fan-out-plan.ts";
import {
  type Counts,
  type Deliverer,
  isComplete,
  ONE_PAGE,
  type Outcome,
  type PageRecord,
  pageName,
  putPage,
  readProgress,
  type Settled,
} from "./receipt.ts";

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
  const { shards } = await fanOutPlanOf(world, broadcast, round);
  const { tenant, broadcastId } = message;
  if (shards !== "one page") {
    const about = { tenant, broadcastId, page: 0, ...(round > 0 && { round }) };
    for (const [epoch, shard] of firstShards(shards)) {
      await world.workQueue.send({ kind: "shard", ...about, epoch, shard });
    }
    return settleDown(world, broadcast);
  }
  const rows = await allRows(world, broadcast);
  const all = { page: pageName(round, ONE_PAGE), rows, last: false };
  if (world.settings.host.queuesSurvive) {
    // What comes twice must lead to the same rows, also when one of the two finds some gone.
    await world.workQueue.send({ kind: "page", tenant, broadcastId, ...all });
  } else await deliverRows(world, broadcast, all, invocation);
  return settleDown(world, broadcast);
}

/**
 * Queues in memory die with their process, and the next one begins anew, with the rows that are
 * left: its pages have names of their own, so that both are counted. Undefined: all is done.
 */
async function roundHere(world: World, { id }: Broadcast): Promise<number | undefined> {
  if (world.settings.host.queuesSurvive) return 0;
  const progress = await readProgress(world, id);
  if (isComplete(progress)) return undefined;
  const here = rounds.get(world.settings) ?? new Map<string, number>();
  rounds.set(world.settings, here);
  // The same broadcast may be published twice in one life: it stays the same round.
  const round = here.get(id) ?? Math.max(-1, ...progress.roads.map((road) => road.round)) + 1;
  here.set(id, round);
  return round;
}

/** Rounds of the broadcasts that are under way in this process. */
const rounds = new WeakMap<World["settings"], Map<string, number>>();

/**
 * With queues in memory a message watches the broadcast until every wait is reached: a restart
 * before that fans it out again.
 */
async function settleDown(world: World, broadcast: Broadcast): Promise<Verdict> {
  const { tenant, host } = world.settings;
  if (host.queuesSurvive || (await isOver(world, broadcast))) return "release";
  await world.workQueue.send({ kind: "watch", tenant, broadcastId: broadcast.id }, WATCH_MS);
  return "release";
}

const WATCH_MS = 100;

/** Checks whether a broadcast has reached every wait by now. */
export async function watch(
  world: World,
  { broadcastId }: Readonly<{ broadcastId: string }>,
): Promise<Verdict> {
  const broadcast = await readBroadcast(world, broadcastId);
  if (broadcast === undefined) return "release";
  return (await isOver(world, broadcast)) ? "release" : { keepForMs: WATCH_MS };
}

async function isOver(world: World, broadcast: Broadcast): Promise<boolean> {
  if (!isComplete(await readProgress(world, broadcast.id))) return false;
  await markFannedOut(world, broadcast);
  rounds.get(world.settings)?.delete(broadcast.id);
  return true;
}

/** Sends the pages of one shard; the rest of a long one is left to another message. */
export async function pageShard(world: World, message: ShardMessage): Promise<Verdict> {
  const { tenant, broadcastId, epoch, shard, page: first, round = 0 } = message;
  const broadcast = await readBroadcast(world, broadcastId);
  if (broadcast === undefined) return "release";
  const { pages, next } = await pagesOf(world, broadcast, message);
  for (const [n, rows] of pages.entries()) {
    const page = pageName(round, `${epoch}.${shard}.${first + n}`);
    const last = next === undefined && n === pages.length - 1;
    await world.workQueue.send({ kind: "page", tenant, broadcastId, page, last, rows });
  }
  if (next !== undefined) {
    await world.workQueue.send({ ...message, page: first + pages.length, from: next });
  }
  return "release";
}

/** Delivers to the rows of one page. */
export async function deliverPage(
  world: World,
  { broadcastId, page, last, rows }: PageMessage,
  invocation: Invocation,
): Promise<Verdict> {
  const broadcast = await readBroadcast(world, broadcastId);
  if (broadcast === undefined) return "release";
  const [only, ...others] = rows;
  if (only && others.length === 0 && page.includes("+")) {
    return deliverAlone(world, broadcast, { page, row: only }, invocation);
  }
  await deliverRows(world, broadcast, { page, rows, last }, invocation);
  return "release";
}

/** The page holds one row: it comes back by itself until that row is done. */
async function deliverAlone(
  world: World,
  broadcast: Broadcast,
  { page, row }: Readonly<{ page: string; row: PagedRow }>,
  invocation: Invocation,
): Promise<Verdict> {
  const result = await deliver(world, broadcast, row, invocation);
  if (result.kind === "later") return { keepForMs: result.ms };
  const fared = await countedHere(world, broadcast, row, result);
  await endPage(world, broadcast, { page, last: false, fared });
  return "release";
}

/** A row that must wait, or that fails, leaves as a page of its own: it delays no other row. */
async function deliverRows(
  world: World,
  broadcast: Broadcast,
  { rows, ...about }: Pick<PageRecord, "page" | "last"> & { rows: readonly PagedRow[] },
  invocation: Invocation,
): Promise<void> {
  const fared: Settled[] = [];
  const aside = new Map<string, Aside>(rows.map((row) => [aloneName(about.page, row), { row }]));
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const some = rows.slice(from, from + ROWS_AT_ONCE);
    // One row may be why the page came too often: each gets a message of its own.
    const results = await Promise.all(
      some.map((row) =>
        world.aside === undefined ? attempt(world, broadcast, row, invocation) : ALONE,
      ),
    );
    for (const [n, result] of results.entries()) {
      const row = some[n];
      if (row === undefined) continue;
      if (result.kind === "later") aside.set(aloneName(about.page, row), { row, ms: result.ms });
      else fared.push(...(await countedHere(world, broadcast, row, result)));
    }
  }
  await endPage(world, broadcast, { ...about, fared, aside });
}

/** A row of a page, and after which time it is tried again on a page of its own, if it is. */
type Aside = Readonly<{ row: PagedRow; ms?: number }>;

/** A page whose rows were all tried: the outcomes that it counts, and all rows by their own names. */
type EndedPage = Pick<PageRecord, "page" | "last"> &
  Readonly<{ fared: readonly Settled[]; aside?: ReadonlyMap<string, Aside> }>;

/** Named after the row: every copy of the page calls it the same, whatever rows that copy found. */
const aloneName = (page: string, { sk }: PagedRow): string => `${page}+${sk}`;

/**
 * The record first: it says which rows it counts and which it awaits. Only then may a row leave as a
 * page of its own, or be removed. Another copy of the page, which reads the rows again, would miss a
 * row that is gone before the record is there, and could store a record that does not count it. Of
 * several copies the first record stands, and each sends the rows that it awaits.
 */
async function endPage(
  world: World,
  broadcast: Broadcast,
  { fared, aside = new Map(), ...about }: EndedPage,
): Promise<void> {
  const late = [...aside].flatMap(([name, { ms }]) => (ms === undefined ? [] : [name]));
  const record = { ...about, awaits: late, ...countsOf(fared) };
  const dead = fared.flatMap((it) => it.dead ?? []);
  const tidy = () => (dead.length > 0 ? world.store.tidy(dead) : Promise.resolve());
  const { tenant, host } = world.settings;
  if (host.groupsCommits && late.length === 0) {
    await Promise.all([putPage(world, broadcast, record), tidy()]);
    return;
  }
  const alone = { kind: "page", tenant, broadcastId: broadcast.id, last: false } as const;
  const { awaits } = await putPage(world, broadcast, record);
  for (const page of awaits) {
    const { row, ms = 0 } = aside.get(page) ?? {};
    if (row) await world.workQueue.send({ ...alone, page, rows: [row] }, ms);
  }
  await tidy();
}

/**
 * What the row's page counts of it. With queues in memory a restart goes through all rows that are
 * left. One that stays, since its wait or its definition does, is counted on a page of its own, the
 * same in every round.
 */
async function countedHere(
  world: World,
  broadcast: Broadcast,
  { sk }: PagedRow,
  fared: Settled,
): Promise<readonly Settled[]> {
  if (world.settings.host.queuesSurvive || fared.dead) return [fared];
  const record = { page: `row ${sk}`, last: false, awaits: [], ...countsOf([fared]) };
  await putPage(world, broadcast, record);
  return [];
}

/** Delivers to one row; a failure is reported, and the row tried again later. */
export async function attempt(
  world: World,
  broadcast: Broadcast,
  row: PagedRow,
  by: Deliverer,
): Promise<Outcome> {
  try {
    return await deliver(world, broadcast, row, by);
  } catch (error) {
    world.onTrouble?.(`broadcast ${broadcast.id} to ${row.sk}`, error);
    return { kind: "later", ms: FAILED_MS };
  }
}

const FAILED_MS = 1_000;

const ALONE: Outcome = { kind: "later", ms: 0 };

export function countsOf(fared: readonly Outcome[]): Counts {
  const count = (kind: Outcome["kind"]) => fared.filter((it) => it.kind === kind).length;
  const failed = fared.flatMap((it) => (it.kind === "failed" ? [it.failed] : []));
  const delivered = count("delivered");
  const skipped = count("skipped");
  const started = count("started");
  const expired = count("expired");
  const matched = delivered + skipped + started + expired + failed.length;
  return { matched, delivered, skipped, started, expired, failed };
}
