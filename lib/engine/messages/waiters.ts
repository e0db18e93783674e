import type { MessageTicket } from "../../kernel/instance.ts";
import { lifeOf } from "../life.ts";
import { deliveryName } from "../names.ts";
import type { Image } from "../stored-instance.ts";
import type { World } from "../world.ts";
import type { Mailbox, Sub } from "./mailbox.ts";

/** A wait that is really there. */
export type Waiter = Readonly<{ sub: Sub; image: Image; ticket: MessageTicket }>;

/** Those of a mailbox whose tickets are open; unsure while one of them is only just being written. */
export async function waitersOf(
  world: World,
  { subs }: Mailbox,
): Promise<readonly Waiter[] | "unsure"> {
  const waiters: Waiter[] = [];
  for (const sub of subs) {
    const life = await lifeOf(world, sub);
    if (life.kind === "unsure") return "unsure";
    if (life.kind === "waits" && life.ticket.on === "message") {
      waiters.push({ sub, image: life.image, ticket: life.ticket });
    }
  }
  return waiters;
}

/** What a message is called at the wait that takes it: one that stays takes several. */
export const wantName = ({ id, stays }: MessageTicket, mid: string): string =>
  stays ? deliveryName(id, mid) : id;
