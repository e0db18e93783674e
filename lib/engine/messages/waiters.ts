import type { MessageTicket } from "../../kernel/instance.ts";
import { lifeOf } from "../rows/life.ts";
import type { Mailbox, Sub } from "../rows/mailbox.ts";
import { instanceKey } from "../storage/keys.ts";
import { deliveryName } from "../storage/names.ts";
import type { Image } from "../storage/stored-instance.ts";
import { isDamaged, readable } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

/** A wait that is really there. */
export type Waiter = Readonly<{ sub: Sub; image: Image; ticket: MessageTicket }>;

/**
 * Those of a mailbox whose tickets are open; unsure while one of them is only just being written. One
 * that was damaged keeps the message from no other; where it is the only one, nobody can tell whose
 * the message is.
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
    if (life === "unreadable") {
      damaged.push(sub);
      continue;
    }
    if (life.kind === "unsure") return "unsure";
    if (life.kind === "waits" && life.ticket.on === "message") {
      waiters.push({ sub, image: life.image, ticket: life.ticket });
    }
  }
  const [only] = damaged;
  if (only && waiters.length === 0) await lifeOf(world, only);
  return waiters;
}

/** What a message is called at the wait that takes it: one that stays takes several. */
export const wantName = ({ id, stays }: MessageTicket, mid: string): string =>
  stays ? deliveryName(id, mid) : id;
