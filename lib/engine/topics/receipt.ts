/**
 * What became of a broadcast, page by page. A page that is delivered twice writes the same record
 * once; after a crash counts may be off by what was in flight, deliveries never are.
 */
import { RECEIPT_MS } from "../../definition/limits.ts";
import { formatInstant, instantFrom } from "../../definition/time/instant.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Item } from "../../ports/store.ts";
import type { FailedDelivery, ReceiptView } from "../engine.ts";
import { tryPutHint } from "../hint.ts";
import { broadcastPk, isStorable, PAGES, pageKey } from "../keys.ts";
import type { World } from "../world.ts";
import { type Broadcast, readBroadcast } from "./broadcast.ts";

/** How those on a page fared. */
export type Counts = Readonly<{
  matched: number;
  delivered: number;
  skipped: number;
  started: number;
  expired: number;
  failed: readonly FailedDelivery[];
}>;

/** One page of a receipt: what it counts, and what else there must be before all is told. */
export type PageRecord = Counts &
  Readonly<{
    page: string;
    /** Pages of rows that had to wait. */
    awaits: readonly string[];
    /** The last one of its shard, or, for a broadcast that fits on one page, of all. */
    last: "shard" | "all" | false;
    /** How many shards the broadcast was split into; a row's own page does not know. */
    shards?: number;
  }>;

export async function putPage(
  world: World,
  broadcast: Broadcast,
  record: PageRecord,
): Promise<void> {
  await tryPutHint(world, {
    key: pageKey(world.settings.tenant, broadcast.id, record.page),
    version: 1,
    body: new TextEncoder().encode(JSON.stringify(record)),
    expiresAt: instantFrom(broadcast.at + RECEIPT_MS),
  });
}

/** The receipt of a broadcast; throws where there is none. */
export async function readReceipt(world: World, broadcastId: string): Promise<ReceiptView> {
  const broadcast = isStorable(broadcastId) ? await readBroadcast(world, broadcastId) : undefined;
  if (broadcast) return viewReceipt(broadcast, await readPages(world, broadcastId));
  throw new EngineError("broadcast/not-found", {
    happened: "There is no receipt of such a broadcast",
    where: `broadcast ${broadcastId}`,
    fix: "Check the id; receipts are kept for 15 days.",
    retryable: false,
  });
}

export function viewReceipt(broadcast: Broadcast, pages: readonly PageRecord[]): ReceiptView {
  const sum = (of: (page: PageRecord) => number) => pages.reduce((all, it) => all + of(it), 0);
  return {
    broadcastId: broadcast.id,
    kind: broadcast.topic.kind,
    name: broadcast.topic.name,
    acceptedAt: formatInstant(broadcast.at),
    complete: areComplete(pages),
    matched: sum(({ matched }) => matched),
    delivered: sum(({ delivered }) => delivered),
    skipped: sum(({ skipped }) => skipped),
    started: sum(({ started }) => started),
    expired: sum(({ expired }) => expired),
    failed: pages.flatMap(({ failed }) => failed),
  };
}

export async function readPages(world: World, broadcastId: string): Promise<readonly PageRecord[]> {
  const pages: PageRecord[] = [];
  let after: string | undefined;
  do {
    const range = { ...PAGES, limit: 1_000, ...(after !== undefined && { after }) };
    const found = await world.store.scan(broadcastPk(world.settings.tenant, broadcastId), range);
    pages.push(...found.items.map(parsePage));
    after = found.next;
  } while (after !== undefined);
  return pages;
}

/** What a page is called; those of the first round have no more than their own name. */
export const pageName = (round: number, name: string): string =>
  round === 0 ? name : `${round}~${name}`;

export const roundOf = (page: string): number =>
  page.includes("~") ? Number(page.slice(0, page.indexOf("~"))) : 0;

/**
 * Every shard has its pages up to the last, and no row of them is waited for. What one round has
 * done no other need do: a shard may be whole in an earlier one.
 */
export function areComplete(records: readonly PageRecord[]): boolean {
  const pages = new Map(records.map((record) => [record.page, record]));
  const isThere = (page: string): boolean =>
    pages.get(page)?.awaits.every((name) => pages.has(name)) ?? false;
  if (records.some(({ last, page }) => last === "all" && isThere(page))) return true;
  const whole = records.filter((it) => it.last === "shard" && namesUpTo(it.page).every(isThere));
  const shards = new Set(whole.map(({ page }) => shardOf(page)));
  const counts = records.flatMap((it) =>
    it.shards === undefined || it.last === "all" ? [] : [it.shards],
  );
  // A message that came twice may have been split into more, when shards were added in between.
  const fewest = Math.min(...counts);
  return counts.length > 0 && firstShards(fewest).every((name) => shards.has(name));
}

/** The shards of a split into so many, by name: epochs are whole, the oldest first. */
function firstShards(count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => {
    const epoch = Math.floor(Math.log2(n + 1));
    return `${epoch + 1}.${n + 1 - 2 ** epoch}`;
  });
}

/** The pages of a shard, by the name of its last one. */
function namesUpTo(last: string): readonly string[] {
  const dot = last.lastIndexOf(".") + 1;
  const count = Number(last.slice(dot)) + 1;
  return Array.from({ length: count }, (_, n) => `${last.slice(0, dot)}${n}`);
}

const shardOf = (page: string): string => page.slice(page.indexOf("~") + 1, page.lastIndexOf("."));

function parsePage({ body }: Item): PageRecord {
  return JSON.parse(new TextDecoder().decode(body)) as PageRecord;
}
