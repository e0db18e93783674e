/**
 * An event for one taker is offered to the wait that is open the longest, then to the next. Taking it
 * removes it in the commit of the taker's step, so no other wait can have it. A wait that opens
 * meanwhile looks for the event after its own commit: one of the two sees the other.
 */
import { EngineError } from "../../ports/engine-error.ts";
import type { OfferMessage, PagedRow, Verdict } from "../../ports/message.ts";
import type { Item } from "../../ports/store.ts";
import { recheckInRequest } from "../drive/recheck.ts";
import { mayTidyRow } from "../rows/closed.ts";
import { keptItem, parseKept } from "../rows/event.ts";
import { lifeOf } from "../rows/life.ts";
import { allShards, readHead } from "../rows/topic-head.ts";
import { parseRow } from "../rows/wait-row.ts";
import { readItem } from "../storage/items.ts";
import { instanceKey, keptEventKey, shardPk } from "../storage/keys.ts";
import { isDamaged, readable, readableOf } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { writesOfDropping } from "./event-id.ts";

/**
 * `unsure`: a wait opens at this very moment, and may want it. `delivered`: it is gone, to a taker, or
 * because another offer of it found none: its id tells.
 */
export type Offered = "delivered" | "queued" | "dropped" | "unsure";

export async function offerEvent(world: World, name: string, seq: number): Promise<Offered> {
  const kept = keptEventKey(world.settings.tenant, name, seq);
  let isUnsure = false;
  for await (const row of waiters(world, name)) {
    if ((await readItem(world, kept)) === undefined) return "delivered";
    // An instance that cannot be read takes nothing: the next one is asked.
    const key = "definitionId" in row ? row : instanceKey(world.settings.tenant, row.instanceId);
    const asked = await readable(world, key, () => ask(world, row), isDamaged);
    if (asked === "unsure") isUnsure = true;
  }
  const item = await readItem(world, kept);
  if (item === undefined) return "delivered";
  return isUnsure ? "unsure" : settleDown(world, item);
}

/** The queue's copy of the offer. */
export async function handleOffer(world: World, { name, seq }: OfferMessage): Promise<Verdict> {
  const offered = await offerEvent(world, name, seq);
  return offered === "unsure" ? { keepForMs: UNSURE_MS } : "release";
}

const UNSURE_MS = 1_000;

/**
 * Each is asked as by a request: a copy of the re-check is parked before it takes the event. Once it
 * has, the event is gone, and a repeated offer would not find the instance that still owes something.
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

/** No taker waits: the event is kept for later, or was only for waits of this moment. */
async function settleDown(world: World, item: Item): Promise<Offered> {
  const event = parseKept(item);
  const isOver = event.mode === "AfterWait" || event.expiresAt <= world.clock.now();
  if (!isOver && item.lookAt === undefined) return "queued";
  const when = { version: item.version };
  const { kind } = await world.store.commit(
    isOver
      ? [{ remove: item.key, when }, ...(await writesOfDropping(world, event.id))]
      : [{ put: keptItem(world, { ...event, version: item.version + 1 }), when }],
  );
  if (kind === "committed") return isOver ? "dropped" : "queued";
  // Another writer was quicker, or the outcome is unknown: what is gone was taken.
  return (await readItem(world, item.key)) === undefined ? "delivered" : "unsure";
}

/** The rows of waits for events of this name, page by page of all shards, the oldest waits first. */
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
    yield* rows.toSorted((a, b) => a.at - b.at);
    open = more;
  }
}

type Place = Readonly<{ pk: string; after?: string }>;
