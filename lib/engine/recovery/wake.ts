/** Does what is due in the store: overdue timers fire, other due items are sent again. */
import { isDue } from "../../kernel/decide.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Invocation, Verdict } from "../../ports/message.ts";
import type { Key } from "../../ports/store.ts";
import { handle } from "../drive/receive.ts";
import { wakeMailbox } from "../messages/wake-mailbox.ts";
import { markFannedOut, parseBroadcast, publish } from "../rows/broadcast.ts";
import { parseKept } from "../rows/event.ts";
import { parseMailbox } from "../rows/mailbox.ts";
import { earliestTimer } from "../rows/open-tickets.ts";
import { parseTimerStart } from "../rows/timer-start.ts";
import { asideOf } from "../step/guarded.ts";
import { timeOf } from "../step/plan.ts";
import { dueOf } from "../storage/keys.ts";
import { loadInstance } from "../storage/stored-instance.ts";
import { armStart, MAX_FIRED_AT_ONCE, wakeStart } from "../timer-starts/fire.ts";
import type { World } from "../world.ts";

/** Does what is due at a stored item; says how many timers that fired. */
export async function wake(given: World, key: Key, invocation: Invocation): Promise<number> {
  const world = asideOf(given, invocation);
  const due = dueOf(key);
  if (due?.kind === "instance") return wakeInstance(world, due.instanceId, invocation);
  if (due?.kind === "timer-start") return wakeStart(world, key);
  await remind(world, key);
  return 0;
}

/** Fires what is due, oldest first, and says how many; one that a firing removes is not fired. */
async function wakeInstance(
  world: World,
  instanceId: string,
  invocation: Invocation,
): Promise<number> {
  const { tenant } = world.settings;
  // One that had to be parked stays open for a while: it is not taken twice.
  const taken = new Set<string>();
  while (taken.size < MAX_FIRED_AT_ONCE) {
    const { instance } = (await loadInstance(world, instanceId)) ?? {};
    const others = instance?.tickets.filter(({ id }) => !taken.has(id)) ?? [];
    const due = earliestTimer({ tickets: others });
    if (!instance || !due || !isDue(due, timeOf(world, instance))) break;
    const message = { kind: "timer", tenant, instanceId, ticket: due.id } as const;
    let verdict: Verdict = { keepForMs: 0 };
    try {
      verdict = await handle(world, message, invocation);
    } finally {
      // No queue would bring this timer back: a parked message sends what its step may still owe.
      const owed = { kind: "owed", tenant, instanceId, name: due.id } as const;
      if (verdict !== "release") await world.parking.park(owed);
    }
    if (verdict !== "release") break;
    taken.add(due.id);
  }
  return taken.size;
}

/** What is due but is no instance. */
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
      // The sweep may lack the permission to start instances: the receiver of the message has it.
      await world.workQueue.send({ kind: "poke", tenant, ...parseMailbox(item.body).address });
      break;
    case "broadcast": {
      const broadcast = parseBroadcast(item.body);
      if (!(await publish(world, broadcast)))
        throw new EngineError("bus/not-taken", { where: `broadcast ${broadcast.id}` });
      // A bus that lasts has it now; a broadcast on one in memory stays due until it is complete.
      if (host.queuesSurvive) await markFannedOut(world, broadcast);
      break;
    }
    case "event": {
      const { name, seq } = parseKept(item);
      await world.workQueue.send({ kind: "offer", tenant, name, seq });
      break;
    }
    case "timer-start":
      // For the same reason the occurrence is sent.
      await armStart(world, parseTimerStart(item.body), !host.queuesSurvive);
      break;
  }
  return kind;
}
