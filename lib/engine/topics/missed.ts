/**
 * The second look of those who began to wait: what was broadcast between the first look at the
 * head and the commit is for them, though its pages may have passed before their row was there.
 * What has a number but is not stored yet is unpublished: its pages will find the row.
 */
import { isWelcome } from "../../kernel/decide.ts";
import type { Instance } from "../../kernel/instance.ts";
import { keptFor } from "../events/kept-event.ts";
import { PLACES, placeKey } from "../keys.ts";
import { deliveryName } from "../names.ts";
import { timeOf } from "../plan.ts";
import type { World } from "../world.ts";
import { type Broadcast, parsePlace, readBroadcast } from "./broadcast.ts";
import { factFor } from "./fact-for.ts";
import { readHead } from "./head.ts";
import { type TopicTicket, topicOf } from "./row.ts";

/** Parks what the wait has missed while it was being committed. */
export async function parkMissed(
  world: World,
  instance: Instance,
  ticket: TopicTicket,
): Promise<void> {
  const { tenant, id: instanceId } = instance;
  for (const broadcast of await missedBy(world, instance, ticket)) {
    const name = deliveryName(ticket.id, broadcast.seq);
    const fact = factFor(broadcast, ticket);
    await world.parking.park({ kind: "parked", tenant, instanceId, name, fact });
  }
  if (ticket.on !== "event") return;
  const [kept] = await keptFor(world, ticket.name, instance);
  const name = ticket.id;
  if (kept) await world.parking.park({ kind: "look", tenant, instanceId, name, ticket: name });
}

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
  for await (const [seq, id] of places(world, ticket, first)) {
    const broadcast = await readBroadcast(world, id);
    if (broadcast === undefined || broadcast.seq !== seq) continue;
    const isOver = broadcast.expiresAt !== undefined && broadcast.expiresAt <= now;
    if (isOver || !isWelcome(instance, factFor(broadcast, ticket), { now })) continue;
    missed.push(broadcast);
    if (ticket.on === "event" || ticket.taken === undefined) break;
  }
  return missed;
}

async function* places(
  world: World,
  ticket: TopicTicket,
  first: number,
): AsyncGenerator<readonly [seq: number, id: string]> {
  const { pk, sk: from } = placeKey(world.settings.tenant, topicOf(ticket), first);
  let after: string | undefined;
  do {
    const range = { from, ...PLACES, limit: 100, ...(after !== undefined && { after }) };
    const page = await world.store.scan(pk, range);
    for (const { key, body } of page.items) {
      yield [Number(key.sk.slice(2)), parsePlace(body)] as const;
    }
    after = page.next;
  } while (after !== undefined);
}
