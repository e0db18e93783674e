/** What is due but is no instance: mailboxes, broadcasts, events and timer starts. */
import { EngineError } from "../../ports/engine-error.ts";
import type { Item, Key } from "../../ports/store.ts";
import { wakeMailbox } from "../messages/wake-mailbox.ts";
import { markFannedOut, parseBroadcast, publish } from "../rows/broadcast.ts";
import { parseKept } from "../rows/kept-event.ts";
import { parseMailbox } from "../rows/mailbox.ts";
import { parseTimerStart } from "../rows/timer-start.ts";
import { dueOf } from "../storage/keys.ts";
import { armStart } from "../timer-starts/arm.ts";
import type { World } from "../world.ts";

export type Reminded = "mailbox" | "broadcast" | "event" | "timer-start";

/** Sends again what was lost; says what it was, if there was anything to do. */
export async function remind(world: World, key: Key): Promise<Reminded | undefined> {
  const { kind } = dueOf(key) ?? {};
  if (kind === undefined || kind === "instance") return undefined;
  const { tenant, host } = world.settings;
  if (kind === "mailbox" && !host.queuesSurvive) {
    return (await wakeMailbox(world, key)) ? kind : undefined;
  }
  const [item] = await world.store.get([key]);
  if (item?.lookAt === undefined) return undefined;
  switch (kind) {
    case "mailbox":
      // The sweep may not be allowed to begin instances: the receiver of the message is.
      await world.workQueue.send({ kind: "poke", tenant, ...parseMailbox(item.body).address });
      break;
    case "broadcast":
      await publishAgain(world, item);
      break;
    case "event": {
      const { name, seq } = parseKept(item);
      await world.workQueue.send({ kind: "offer", tenant, name, seq });
      break;
    }
    case "timer-start":
      // Nor may it here: the occurrence is sent.
      await armStart(world, parseTimerStart(item.body), !host.queuesSurvive);
      break;
  }
  return kind;
}

async function publishAgain(world: World, { body }: Item): Promise<void> {
  const broadcast = parseBroadcast(body);
  if (!(await publish(world, broadcast))) throw notTaken(broadcast.id);
  // A bus that lasts has it now; a broadcast on one in memory stays due until it is complete.
  if (world.settings.host.queuesSurvive) await markFannedOut(world, broadcast);
}

const notTaken = (id: string): EngineError =>
  new EngineError("bus/not-taken", {
    happened: "The bus did not take a broadcast",
    where: `broadcast ${id}`,
    fix: "It is sent again by the sweep. If this goes on, look at the function's permissions and at the throttles of the bus.",
  });
