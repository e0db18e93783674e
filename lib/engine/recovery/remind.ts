/** What is due but is no instance: mailboxes, broadcasts, events and timer starts. */
import { EngineError } from "../../ports/engine-error.ts";
import type { Key } from "../../ports/store.ts";
import { wakeMailbox } from "../messages/wake-mailbox.ts";
import { markFannedOut, parseBroadcast, publish } from "../rows/broadcast.ts";
import { parseKept } from "../rows/kept-event.ts";
import { parseMailbox } from "../rows/mailbox.ts";
import { dueOfStart, readTimerStart } from "../rows/timer-start.ts";
import { dueOf } from "../storage/keys.ts";
import { armStart } from "../timer-starts/arm.ts";
import type { World } from "../world.ts";

export type Reminded = "mailbox" | "broadcast" | "event" | "timer-start";

/** Sends again what was lost; says what it was, if there was anything to do. */
export async function remind(world: World, key: Key): Promise<Reminded | undefined> {
  const due = dueOf(key);
  switch (due?.kind) {
    case undefined:
    case "instance":
      return undefined;
    case "mailbox":
      return pokeAgain(world, key);
    case "broadcast":
      return publishAgain(world, key);
    case "event":
      return offerAgain(world, key);
    case "timer-start":
      return fireAgain(world, key);
  }
}

/** The sweep may not be allowed to begin instances: where queues last, a message asks for it. */
async function pokeAgain(world: World, key: Key): Promise<Reminded | undefined> {
  const { tenant, host } = world.settings;
  if (!host.queuesSurvive) return (await wakeMailbox(world, key)) ? "mailbox" : undefined;
  const [item] = await world.store.get([key]);
  if (item?.lookAt === undefined) return undefined;
  await world.pages.send({ kind: "poke", tenant, ...parseMailbox(item.body).address });
  return "mailbox";
}

async function publishAgain(world: World, key: Key): Promise<Reminded | undefined> {
  const [item] = await world.store.get([key]);
  if (item?.lookAt === undefined) return undefined;
  const broadcast = parseBroadcast(item.body);
  if (!(await publish(world, broadcast))) throw notTaken(broadcast.id);
  // A bus that lasts has it now; a broadcast on one in memory stays due until it is complete.
  if (world.settings.host.queuesSurvive) await markFannedOut(world, broadcast);
  return "broadcast";
}

/** The sweep may not be allowed to begin instances: the occurrence is armed anew. */
async function fireAgain(world: World, key: Key): Promise<Reminded | undefined> {
  const found = await readTimerStart(world, key);
  if (found === undefined || dueOfStart(found.start) === undefined) return undefined;
  await armStart(world, found.start, !world.settings.host.queuesSurvive);
  return "timer-start";
}

async function offerAgain(world: World, key: Key): Promise<Reminded | undefined> {
  const [item] = await world.store.get([key]);
  if (item?.lookAt === undefined) return undefined;
  const { name, seq } = parseKept(item);
  await world.pages.send({ kind: "offer", tenant: world.settings.tenant, name, seq });
  return "event";
}

const notTaken = (id: string): EngineError =>
  new EngineError("bus/not-taken", {
    happened: "The bus did not take a broadcast",
    where: `broadcast ${id}`,
    fix: "It is sent again by the sweep. If this goes on, look at the function's permissions and at the throttles of the bus.",
    retryable: true,
  });
