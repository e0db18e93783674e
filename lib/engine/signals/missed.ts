/**
 * The re-check of a wait that was just opened: what was broadcast between the read of the topic's head
 * and the commit is for it, though the pages may have passed before its row was there. What has a
 * number but is not stored yet is unpublished: its pages will find the row.
 */
import { MAX_MS_FOR_PAGES } from "../../definition/limits.ts";
import { isWelcome } from "../../kernel/decide.ts";
import type { Instance } from "../../kernel/instance.ts";
import type { MissedMessage, Verdict } from "../../ports/message.ts";
import { type Broadcast, factFor, parsePlace, readBroadcast } from "../rows/broadcast.ts";
import { keptFor } from "../rows/event.ts";
import { readHead } from "../rows/topic-head.ts";
import { isTopicTicket, parseRow, rowItem, type TopicTicket, topicOf } from "../rows/wait-row.ts";
import { timeOf } from "../step/plan.ts";
import { parkWant } from "../step/take.ts";
import { scanAll } from "../storage/items.ts";
import { broadcastKey, PLACES, placeKey } from "../storage/keys.ts";
import { deliveryName } from "../storage/names.ts";
import { loadInstance } from "../storage/stored-instance.ts";
import { isDamaged, readable, readableOf } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { isComplete, readProgress } from "./receipt.ts";

/** Sends what the wait has missed while it was being committed. */
export async function sendMissed(
  world: World,
  instance: Instance,
  ticket: TopicTicket,
): Promise<void> {
  const { tenant, id: instanceId } = instance;
  const { id } = ticket;
  const underWay: Broadcast[] = [];
  for (const broadcast of await missedBy(world, instance, ticket)) {
    if ((await sendOne(world, instance, ticket, broadcast)) === "later") underWay.push(broadcast);
  }
  if (underWay.length > 0) {
    const again = { kind: "missed", tenant, instanceId, ticket: id } as const;
    await world.workQueue.send(again, recheckMs(world, underWay));
  }
  if (ticket.on !== "event") return;
  const [kept] = await keptFor(world, ticket.name, instance);
  if (kept) await parkWant(world, instance, { name: id, look: id });
}

/** The message of a re-check, for when the pages of what was missed have come. */
export async function recheckMissed(
  world: World,
  { instanceId, ticket: id }: MissedMessage,
): Promise<Verdict> {
  const image = await loadInstance(world, instanceId);
  const ticket = image?.instance.tickets.find((each) => each.id === id);
  if (image && ticket && isTopicTicket(ticket)) await sendMissed(world, image.instance, ticket);
  return "release";
}

type Route = "page" | "later" | "fact";

/**
 * While its pages are under way they may find the row, and count its wait: that is waited for. Once
 * all have come without it, it gets a page of its own. A broadcast that hangs is not waited for any
 * longer: a wait that gets it so is not counted, since the pages may count it still.
 */
async function sendOne(
  world: World,
  instance: Instance,
  ticket: TopicTicket,
  broadcast: Broadcast,
): Promise<Route> {
  const { tenant, id: instanceId } = instance;
  const row = ticket.row && parseRow(rowItem(instance, ticket, ticket.row));
  const route = row ? await routeOf(world, broadcast) : "fact";
  const fact = factFor(broadcast, ticket);
  if (row && route === "page") {
    // Read after its pages have come: those may have found the row since the instance was read.
    const { instance: current } = (await loadInstance(world, instanceId)) ?? {};
    if (!current || !isWelcome(current, fact, { now: timeOf(world, current) })) return route;
    const page = `m~${instanceId}~${ticket.id}`;
    const about = { tenant, broadcastId: broadcast.id, page, last: false, rows: [row] };
    await world.workQueue.send({ kind: "page", ...about });
  }
  if (route === "fact") {
    await parkWant(world, instance, { name: deliveryName(ticket.id, broadcast.seq), fact });
  }
  return route;
}

async function routeOf(world: World, { id, at }: Broadcast): Promise<Route> {
  const key = broadcastKey(world.settings.tenant, id);
  const progress = await readable(world, key, () => readProgress(world, id), isDamaged);
  if (progress !== "unreadable" && isComplete(progress)) return "page";
  return world.clock.now() - at < MAX_MS_FOR_PAGES ? "later" : "fact";
}

/** Rarer as a broadcast takes longer: re-checks of many waits must not outnumber its pages. */
function recheckMs({ clock }: World, underWay: readonly Broadcast[]): number {
  const ages = underWay.map(({ at }) => clock.now() - at);
  return Math.max(MIN_RECHECK_MS, Math.floor(Math.min(...ages) / 4));
}

const MIN_RECHECK_MS = 500;

/** The first one for a wait that takes one, all of them for a wait that stays. */
async function missedBy(
  world: World,
  instance: Instance,
  ticket: TopicTicket,
): Promise<readonly Broadcast[]> {
  const topic = topicOf(ticket);
  const { head } = await readHead(world, topic);
  const first = (ticket.row?.after ?? head.seq) + 1;
  if (first > head.seq) return [];
  const missed: Broadcast[] = [];
  const now = timeOf(world, instance);
  const { tenant } = world.settings;
  const { pk, sk: from } = placeKey(tenant, topic, first);
  for await (const item of scanAll(world.store, pk, { from, ...PLACES, limit: 100 })) {
    const [id] = readableOf(world, [item], ({ body }) => parsePlace(body), isDamaged);
    if (id === undefined) continue;
    const key = broadcastKey(tenant, id);
    const broadcast = await readable(world, key, () => readBroadcast(world, id), isDamaged);
    if (broadcast === undefined || broadcast === "unreadable") continue;
    if (broadcast.seq !== Number(item.key.sk.slice(2))) continue;
    const isOver = broadcast.expiresAt !== undefined && broadcast.expiresAt <= now;
    if (isOver || !isWelcome(instance, factFor(broadcast, ticket), { now })) continue;
    missed.push(broadcast);
    if (ticket.on === "event" || ticket.taken === undefined) break;
  }
  return missed;
}
