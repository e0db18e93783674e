/** Brings those who wait and what is kept for them together, where no queue does. */
import type { PokeMessage, Verdict } from "../../ports/message.ts";
import type { Key } from "../../ports/store.ts";
import { lifeOf } from "../rows/life.ts";
import {
  type Buffered,
  type Mailbox,
  mailboxItem,
  messageFor,
  parseMailbox,
  type Sub,
  type Target,
  withoutSubs,
} from "../rows/mailbox.ts";
import { mailboxKey } from "../storage/keys.ts";
import { readable } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { lifeOfTarget, passOver, takeIfItCan } from "./target.ts";
import { wantName } from "./waiters.ts";

/** Somebody has seen that a mailbox is left alone. */
export async function handleWakeMailbox(
  world: World,
  { name, key }: PokeMessage,
): Promise<Verdict> {
  await wakeMailbox(world, mailboxKey(world.settings.tenant, name, key));
  return "release";
}

/** Says whether there was anything to do. */
export async function wakeMailbox(world: World, key: Key): Promise<boolean> {
  const [item] = await world.store.get([key]);
  if (item?.lookAt === undefined) return false;
  const mailbox = parseMailbox(item.body);
  for (const message of mailbox.bufs) {
    for (const target of message.for ?? []) {
      await readable(world, key, () => pokeTarget(world, mailbox, message, target));
    }
  }
  // What was kept for somebody who is gone may be for others now.
  const [changed] = await world.store.get([key]);
  const now = changed ? parseMailbox(changed.body) : mailbox;
  const dead: Sub[] = [];
  for (const sub of now.subs) {
    const isDead = await readable(world, key, () => pokeWaiter(world, now, sub));
    if (isDead === true) dead.push(sub);
  }
  if (dead.length > 0) await removeSubs(world, key, dead);
  return true;
}

async function pokeTarget(
  world: World,
  { address }: Mailbox,
  message: Buffered,
  target: Target,
): Promise<void> {
  if ("definitionId" in target) {
    await takeIfItCan(world, address, message, target);
    return;
  }
  const life = await lifeOfTarget(world, target);
  if (life.kind === "gone") await passOver(world, address, message.mid, target);
  if (life.kind !== "waits" || life.ticket.on !== "message") return;
  const { tenant, id: instanceId } = life.image.instance;
  const name = wantName(life.ticket, message.mid);
  await world.parking.park({ kind: "look", tenant, instanceId, name, ticket: target.ticket });
}

/** Says whether the wait is gone. */
async function pokeWaiter(world: World, mailbox: Mailbox, sub: Sub): Promise<boolean> {
  const life = await lifeOf(world, sub);
  if (life.kind !== "waits" || life.ticket.on !== "message") return life.kind === "gone";
  const message = messageFor(mailbox, sub, world.clock.now());
  if (message === undefined) return false;
  const { tenant, id: instanceId } = life.image.instance;
  const name = wantName(life.ticket, message.mid);
  await world.parking.park({ kind: "look", tenant, instanceId, name, ticket: sub.ticket });
  return false;
}

async function removeSubs(world: World, key: Key, dead: readonly Sub[]): Promise<void> {
  const [item] = await world.store.get([key]);
  if (item === undefined) return;
  const isDead = ({ instanceId, ticket }: Sub) =>
    dead.some((sub) => sub.instanceId === instanceId && sub.ticket === ticket);
  const left = withoutSubs(parseMailbox(item.body), isDead);
  const put = mailboxItem(world, left, item.version + 1);
  await world.store.commit([{ put, when: { version: item.version } }]);
}
