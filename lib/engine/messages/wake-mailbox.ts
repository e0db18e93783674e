/** Brings waits and the messages that are kept for them together, where no queue does. */
import {
  isSameTarget,
  type Mailbox,
  messageFor,
  type Sub,
  withoutSubs,
} from "../../kernel/mailbox.ts";
import type { PokeMessage, Verdict } from "../../ports/message.ts";
import type { Key } from "../../ports/store.ts";
import { lifeOf } from "../rows/life.ts";
import { mailboxWrite, parseMailbox } from "../rows/mailbox.ts";
import { mailboxKey } from "../storage/keys.ts";
import { readable } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { type KeptMessage, lifeOfTarget, passOver, takeIfItCan } from "./target.ts";
import { parkRecheck, waiterIn } from "./waiters.ts";

/** The queue's request to look after a mailbox. */
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
      const kept = { address: mailbox.address, message, target };
      await readable(world, key, () => wakeTarget(world, kept));
    }
  }
  // What was kept for a wait that is gone may be for others now.
  const [changed] = await world.store.get([key]);
  const now = changed ? parseMailbox(changed.body) : mailbox;
  const dead: Sub[] = [];
  for (const sub of now.subs) {
    const isDead = await readable(world, key, () => wakeSub(world, now, sub));
    if (isDead === true) dead.push(sub);
  }
  if (dead.length > 0) await removeSubs(world, key, dead);
  return true;
}

async function wakeTarget(world: World, kept: KeptMessage): Promise<void> {
  const { message, target } = kept;
  if ("definitionId" in target) {
    await takeIfItCan(world, kept);
    return;
  }
  const life = await lifeOfTarget(world, target);
  if (life.kind === "gone") await passOver(world, kept);
  const [waiter] = waiterIn(life);
  if (waiter) await parkRecheck(world, waiter, message.mid);
}

/** Says whether the wait is gone. */
async function wakeSub(world: World, mailbox: Mailbox, sub: Sub): Promise<boolean> {
  const life = await lifeOf(world, sub);
  const message = messageFor(mailbox, sub, world.clock.now());
  const [waiter] = waiterIn(life);
  if (waiter && message) await parkRecheck(world, waiter, message.mid);
  return life.kind === "gone";
}

async function removeSubs(world: World, key: Key, dead: readonly Sub[]): Promise<void> {
  const [item] = await world.store.get([key]);
  if (item === undefined) return;
  const left = withoutSubs(parseMailbox(item.body), (sub) =>
    dead.some((it) => isSameTarget(it, sub)),
  );
  await world.store.commit([mailboxWrite(world, left, item.version)]);
}
