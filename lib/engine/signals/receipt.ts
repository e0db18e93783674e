/**
 * What became of a broadcast, page by page. A page that is delivered twice is counted once, and its
 * rows go only when that is stored: after a crash before that they are found again.
 */
import { RECEIPT_MS } from "../../definition/limits.ts";
import { formatInstant, instantFrom } from "../../definition/time/instant.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Invocation } from "../../ports/message.ts";
import type { Key } from "../../ports/store.ts";
import type { FailedDelivery, ReceiptView } from "../../shapes/signals.ts";
import { type Broadcast, readBroadcast } from "../rows/broadcast.ts";
import { firstShards } from "../rows/topic-head.ts";
import { encodeBody, parserOf } from "../storage/formats.ts";
import { putAbsent, scanAll } from "../storage/items.ts";
import { broadcastPk, isStorable, PROGRESS, pageKey } from "../storage/keys.ts";
import type { World } from "../world.ts";
import { type FanOutPlan, parseFanOutPlan } from "./fan-out-plan.ts";

/** How those on a page fared. */
export type Counts = Pick<
  ReceiptView,
  "matched" | "delivered" | "skipped" | "started" | "expired" | "failed"
>;

/** One page of a receipt: what it counts, and what else there must be before all is told. */
export type PageRecord = Counts &
  Readonly<{
    page: string;
    /** Pages of rows that had to wait. */
    awaits: readonly string[];
    /** The last one of its shard. */
    last: boolean;
  }>;

/** How far a broadcast is: what has been counted, and how it was split in each round. */
export type Progress = Readonly<{ pages: readonly PageRecord[]; roads: readonly FanOutPlan[] }>;

/** The one page of a broadcast that fits on one. */
export const ONE_PAGE = "all";

const parsePage = parserOf<PageRecord>("page");

/** Gives the record that stands when this resolves, this one or an earlier one of the same page. */
export async function putPage(
  world: World,
  broadcast: Broadcast,
  record: PageRecord,
): Promise<PageRecord> {
  const stored = await putAbsent(world, {
    key: pageKey(world.settings.tenant, broadcast.id, record.page),
    version: 1,
    body: encodeBody("page", record),
    expiresAt: instantFrom(broadcast.at + RECEIPT_MS),
  });
  world.observe?.({
    kind: "page-delivered",
    broadcastId: broadcast.id,
    matched: record.matched,
    ms: world.clock.now() - broadcast.at,
  });
  return parsePage(stored.body);
}

/** The receipt of a broadcast; throws where there is none. */
export async function readReceipt(world: World, broadcastId: string): Promise<ReceiptView> {
  const broadcast = isStorable(broadcastId) ? await readBroadcast(world, broadcastId) : undefined;
  if (broadcast) return viewReceipt(broadcast, await readProgress(world, broadcastId));
  throw new EngineError("broadcast/not-found", { where: `broadcast ${broadcastId}` });
}

export function viewReceipt(broadcast: Broadcast, progress: Progress): ReceiptView {
  const { pages } = progress;
  const sum = (of: (page: PageRecord) => number) => pages.reduce((all, it) => all + of(it), 0);
  return {
    broadcastId: broadcast.id,
    kind: broadcast.topic.kind,
    name: broadcast.topic.name,
    acceptedAt: formatInstant(broadcast.at),
    complete: isComplete(progress),
    matched: sum(({ matched }) => matched),
    delivered: sum(({ delivered }) => delivered),
    skipped: sum(({ skipped }) => skipped),
    started: sum(({ started }) => started),
    expired: sum(({ expired }) => expired),
    failed: pages.flatMap(({ failed }) => failed),
  };
}

export async function readProgress(world: World, broadcastId: string): Promise<Progress> {
  const pages: PageRecord[] = [];
  const roads: FanOutPlan[] = [];
  const pk = broadcastPk(world.settings.tenant, broadcastId);
  for await (const { key, body } of scanAll(world.store, pk, { ...PROGRESS, limit: 1_000 })) {
    if (key.sk.startsWith("R#")) roads.push(parseFanOutPlan(body));
    else pages.push(parsePage(body));
  }
  return { pages, roads };
}

/** The name of a page; in the first round it has no prefix. */
export const pageName = (round: number, name: string): string =>
  round === 0 ? name : `${round}~${name}`;

/**
 * One round has all its pages: the one that holds every row, or every shard up to its last. What one
 * round has done no other need do: a shard may be whole in an earlier one.
 */
export function isComplete({ pages: records, roads }: Progress): boolean {
  const pages = new Map(records.map((record) => [record.page, record]));
  const isThere = (page: string): boolean =>
    pages.get(page)?.awaits.every((name) => pages.has(name)) ?? false;
  const whole = records.filter(({ last, page }) => last && namesUpTo(page).every(isThere));
  const shards = new Set(whole.map(({ page }) => shardOf(page)));
  return roads.some((road) =>
    road.shards === "one page"
      ? isThere(pageName(road.round, ONE_PAGE))
      : firstShards(road.shards).every((shard) => shards.has(shard.join("."))),
  );
}

/** The pages of a shard, by the name of its last one. */
function namesUpTo(last: string): readonly string[] {
  const dot = last.lastIndexOf(".") + 1;
  const count = Number(last.slice(dot)) + 1;
  return Array.from({ length: count }, (_, n) => `${last.slice(0, dot)}${n}`);
}

const shardOf = (page: string): string => page.slice(page.indexOf("~") + 1, page.lastIndexOf("."));

/** How a row fared; `dead` is the row itself, where it may go now. */
export type Outcome = Readonly<
  | { kind: "delivered" | "started" | "skipped" | "expired" | "not-meant"; dead?: Key }
  | { kind: "failed"; failed: FailedDelivery; dead?: Key }
  | { kind: "later"; ms: number }
>;

/** A row that need not be tried again. */
export type Settled = Exclude<Outcome, { kind: "later" }>;

/** Who delivers: an invocation that sends what is owed, or a call that does not. */
export type Deliverer = Invocation | "call";
