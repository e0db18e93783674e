import type { MessageTicket } from "../../kernel/instance.ts";
import type { Mailbox, Sub } from "../../kernel/mailbox.ts";
import { type Life, lifeOf } from "../rows/life.ts";
import { instanceKey } from "../storage/keys.ts";
import { deliveryName } from "../storage/names.ts";
import type { Image } from "../storage/stored-instance.ts";
import { isDamaged, readable } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

/** A wait that is really there. */
export type Waiter = Readonly<{ image: Image; ticket: MessageTicket }>;

/**
 * The waits of a mailbox whose tickets are open; unsure while one of them is only just being written.
 * A damaged one keeps the message from no other; where it is the only one, its error is thrown: it
 * cannot be known whether the message is for it.
 */
export async function waitersOf(
  world: World,
  { subs }: Mailbox,
): Promise<readonly Waiter[] | "unsure"> {
  const waiters: Waiter[] = [];
  const damaged: Sub[] = [];
  for (const sub of subs) {
    const key = instanceKey(world.settings.tenant, sub.instanceId);
    const life = await readable(world, key, () => lifeOf(world, sub), isDamaged);
    if (life === "unreadable") damaged.push(sub);
    else if (life.kind === "unsure") return "unsure";
    else waiters.push(...waiterIn(life));
  }
  const [only] = damaged;
  if (only && waiters.length === 0) await lifeOf(world, only);
  return waiters;
}

/** The wait for a message that is open there, if one is. */
export const waiterIn = (life: Life): readonly Waiter[] =>
  life.kind === "waits" && life.ticket.on === "message"
    ? [{ image: life.image, ticket: life.ticket }]
    : [];

/** What a message is called at the wait that takes it: one that stays takes several. */
export const wantName = ({ id, stays }: MessageTicket, mid: string): string =>
  stays ? deliveryName(id, mid) : id;

/** Sends the wait a message to re-check its mailbox, in which this message is kept for it. */
export function parkRecheck(world: World, { image, ticket }: Waiter, mid: string): Promise<void> {
  const { tenant, id: instanceId } = image.instance;
  const name = wantName(ticket, mid);
  return world.parking.park({ kind: "look", tenant, instanceId, name, ticket: ticket.id });
}
