/** What hosts hand over: every message becomes one fact and one step of its instance. */
import { isDue } from "../kernel/decide.ts";
import type { Invocation, Message, TimerMessage, Verdict } from "../ports/message.ts";
import { advance } from "./advance.ts";
import { hasLost, loadOrCreate } from "./creation.ts";
import { afterCommit } from "./dispatch.ts";
import { drive } from "./drive.ts";
import { isTimer } from "./owed.ts";
import { timeOf } from "./plan.ts";
import { dropSentRecords, redeliver } from "./redelivery.ts";
import { settle } from "./settle.ts";
import { type Image, loadInstance } from "./stored-instance.ts";
import type { World } from "./world.ts";

/** One message, one verdict: "release" once nothing depends on the message any more. */
export async function handle(
  world: World,
  message: Message,
  invocation: Invocation,
): Promise<Verdict> {
  switch (message.kind) {
    case "task": {
      const image = await loadOrCreate(world, message.instanceId, message.start);
      if (image === undefined || hasLost(world, image.instance, message.start)) return "release";
      return drive(world, image, message, invocation);
    }
    case "timer": {
      const image = await loadInstance(world, message.instanceId);
      return image ? fireTimer(world, image, message, invocation) : "release";
    }
    case "parked":
    case "owed": {
      const [verdict] = await advance(world, [message], invocation);
      return verdict ?? "release";
    }
  }
}

/** Fires what is due, oldest first, and says how many; one that a firing removes is not fired. */
export async function wake(
  world: World,
  instanceId: string,
  invocation: Invocation,
): Promise<number> {
  const image = await loadInstance(world, instanceId);
  if (image === undefined) return 0;
  const { tenant } = world.settings;
  const now = timeOf(world, image.instance);
  const due = image.instance.tickets
    .filter(isTimer)
    .filter((timer) => isDue(timer, now))
    .sort((a, b) => a.dueAt - b.dueAt);
  let fired = 0;
  for (const { id: ticket } of due) {
    const message = { kind: "timer", tenant, instanceId, ticket } as const;
    if ((await handle(world, message, invocation)) === "release") fired += 1;
  }
  return fired;
}

/** Never early: by the later of this host's clock and the instance's own time. */
async function fireTimer(
  world: World,
  image: Image,
  message: TimerMessage,
  invocation: Invocation,
): Promise<Verdict> {
  const name = message.ticket;
  const timer = image.instance.tickets.filter(isTimer).find(({ id }) => id === name);
  if (timer === undefined) return redeliver(world, image, name, invocation);
  const now = timeOf(world, image.instance);
  if (!isDue(timer, now)) return { keepForMs: timer.dueAt - now };
  const fact = { kind: "timer-due", ticket: name } as const;
  const settled = await settle(
    world,
    image,
    { name, fact },
    { own: invocation.id, until: invocation.until },
    { sent: new Set(), mine: () => true },
  );
  switch (settled.kind) {
    case "settled": {
      const sent = await afterCommit(world, settled.plan);
      return dropSentRecords(world, settled.image, sent, invocation.id);
    }
    case "gone":
      return settled.image ? redeliver(world, settled.image, name, invocation) : "release";
    case "contended":
    case "overtaken": {
      const { tenant, instanceId } = message;
      await world.parking.park({ kind: "parked", tenant, instanceId, name, fact });
      return "release";
    }
  }
}
