/**
 * An event that only one may have looks for its taker: who waits the longest is asked first. Taking
 * it removes it in the very commit of the taker's step, so nobody else can have it. Whoever comes
 * to wait meanwhile looks for it after its own commit: one of the two sees the other.
 */
import type { Instant } from "../../definition/time/instant.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { OfferMessage, PagedRow, Verdict } from "../../ports/message.ts";
import type { Item, Key } from "../../ports/store.ts";
import { recheckInRequest } from "../drive/recheck.ts";
import { mayTidyRow } from "../rows/closed.ts";
import { keptItem, parseKept } from "../rows/kept-event.ts";
import { lifeOf } from "../rows/life.ts";
import { allShards, readHead } from "../rows/topic-head.ts";
import { parseRow } from "../rows/wait-row.ts";
import { instanceKey, keptEventKey, shardPk } from "../storage/keys.ts";
import { isDamaged, readable, readableOf } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { writesOfDropping } from "./dropped-event.ts";

/**
 * `unsure`: somebody begins to wait at this very moment, and may want it. `delivered`: it is gone,
 * to a taker, or because somebody else who offered it found none: its id tells.
 */
export type Offered = "delivered" | "queued" | "dropped" | "unsure";

export async function offerEvent(world: World, name: string, seq: number): Promise<Offered> {
  const kept = keptEventKey(world.settings.tenant, name, seq);
  let isUnsure = false;
  for await (const row of waiters(world, name)) {
    if ((await read(world, kept)) === undefined) return "delivered";
    // Who cannot be read takes nothing: the next one is asked.
    const key = "definitionId" in row ? row : instanceKey(world.settings.tenant, row.instanceId);
    const asked = await readable(world, key, () => ask(world, row), isDamaged);
    if (asked === "unsure") isUnsure = true;
  }
  const item = await read(world, kept);
  if (item === undefined) return "delivered";
  return isUnsure ? "unsure" : settleDown(world, item);
}

/** The queue's copy of the offer. */
export async function handleOffer(world: World, { name, seq }: OfferMessage): Promise<Verdict> {
  const offered = await offerEvent(world, name, seq);
  return offered === "unsure" ? { keepForMs: UNSURE_MS } : "release";
}

const UNSURE_MS = 1_000;

/** What is no longer there has been taken. */
async function read(world: World, key: Key): Promise<Item | undefined> {
  const [item] = await world.store.get([key]);
  return item;
}

/**
 * Each is asked as by a call: a copy of the look is parked before it takes the event. Once it has,
 * the event is gone, and an offer that comes back would not find who still owes something.
 */
async function ask(world: World, row: PagedRow): Promise<"asked" | "unsure"> {
  if ("definitionId" in row) return "asked";
  const { instanceId, ticket: id, at: since, version } = row;
  const life = await lifeOf(world, { instanceId, ticket: id, since, version });
  if (life.kind === "unsure") return "unsure";
  if (life.kind === "gone") {
    const isFree = !life.image || mayTidyRow(world, life.image.instance, id);
    if (isFree) await world.store.tidy([{ pk: row.pk, sk: row.sk }]);
    return "asked";
  }
  try {
    const looked = await recheckInRequest(world, life.image, { ticket: id, name: id });
    return looked.kind === "again" ? "unsure" : "asked";
  } catch (cause) {
    // It has no room for it: the next one is asked.
    if (cause instanceof EngineError && cause.code === "request/body-too-large") return "asked";
    throw cause;
  }
}

/** Nobody waits: it is kept for later, or was only for who waits now. */
async function settleDown(world: World, item: Item): Promise<Offered> {
  const event = parseKept(item);
  const isOver = event.mode === "AfterWait" || event.expiresAt <= world.clock.now();
  if (isOver) {
    const when = { version: item.version };
    const besides = await writesOfDropping(world, event);
    const outcome = await world.store.commit([{ remove: item.key, when }, ...besides]);
    return outcome.kind === "committed" ? "dropped" : isGone(world, item);
  }
  if (item.lookAt === undefined) return "queued";
  const put = keptItem(world, { ...event, version: item.version + 1 });
  const outcome = await world.store.commit([{ put, when: { version: item.version } }]);
  return outcome.kind === "committed" ? "queued" : isGone(world, item);
}

/** Somebody else was quicker, or nobody knows: what is gone was taken. */
async function isGone(world: World, { key }: Item): Promise<Offered> {
  return (await read(world, key)) === undefined ? "delivered" : "unsure";
}

/** Everybody who waits for events of this name, those who have waited longest first. */
async function* waiters(world: World, name: string): AsyncGenerator<PagedRow> {
  const topic = { kind: "event", name } as const;
  const { head } = await readHead(world, topic);
  let open: readonly Place[] = allShards(head).map(([epoch, shard]) => ({
    pk: shardPk(world.settings.tenant, topic, epoch, shard),
  }));
  while (open.length > 0) {
    const rows: PagedRow[] = [];
    const more: Place[] = [];
    for (const { pk, after } of open) {
      const page = await world.store.scan(pk, { limit: 50, ...(after && { after }) });
      rows.push(...readableOf(world, page.items, parseRow, isDamaged));
      if (page.next !== undefined) more.push({ pk, after: page.next });
    }
    yield* rows.toSorted((a, b) => byAge(a.at, b.at));
    open = more;
  }
}

type Place = Readonly<{ pk: string; after?: string }>;

const byAge = (a: Instant, b: Instant): number => a - b;
