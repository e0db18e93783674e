/** What hosts hand over: every message becomes one fact and one step of its instance. */
import { isDue } from "../kernel/decide.ts";
import type { TimerTicket } from "../kernel/instance.ts";
import type { Invocation, Message, TimerMessage, Verdict } from "../ports/message.ts";
import type { Key } from "../ports/store.ts";
import { advance } from "./advance.ts";
import { hasLost, loadOrCreate } from "./creation.ts";
import { drive } from "./drive.ts";
import { handleOffer } from "./events/offer-event.ts";
import { cancelPage } from "./families/cancel-family.ts";
import { sendPage } from "./families/send-family.ts";
import { dueOf } from "./keys.ts";
import { handlePoke } from "./messages/poke.ts";
import { earliestTimer, isTimer } from "./owed.ts";
import { timeOf } from "./plan.ts";
import { redeliver } from "./redelivery.ts";
import { remind } from "./remind.ts";
import { settleAndSend } from "./settle-and-send.ts";
import { type Image, loadInstance } from "./stored-instance.ts";
import { fireStart, wakeStart } from "./timer-starts/fire.ts";
import { deliverPage, fanOut, pageShard, watch } from "./topics/fan-out.ts";
import { lookAgain } from "./topics/missed.ts";
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
      if (image === undefined || hasLost(image.instance, message.start)) return "release";
      return drive(world, image, message, invocation);
    }
    case "timer": {
      const image = await loadInstance(world, message.instanceId);
      return image ? fireTimer(world, image, message, invocation) : "release";
    }
    case "timer-start":
      return fireStart(world, message);
    case "parked":
    case "look":
    case "owed": {
      const [verdict] = await advance(world, [message], invocation);
      return verdict ?? "release";
    }
    case "broadcast":
      return fanOut(world, message, invocation);
    case "watch":
      return watch(world, message);
    case "shard":
      return pageShard(world, message);
    case "page":
      return deliverPage(world, message, invocation);
    case "missed":
      return lookAgain(world, message);
    case "members":
      return sendPage(world, message);
    case "cancel-members":
      return cancelPage(world, message);
    case "offer":
      return handleOffer(world, message);
    case "poke":
      return handlePoke(world, message);
  }
}

/** Does what is due at a stored item; says how many timers that fired. */
export async function wake(world: World, key: Key, invocation: Invocation): Promise<number> {
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
  for (const taken = new Set<string>(); ; ) {
    const image = await loadInstance(world, instanceId);
    const due = image && firstDue(world, image, taken);
    if (due === undefined) return taken.size;
    const message = { kind: "timer", tenant, instanceId, ticket: due.id } as const;
    let verdict: Verdict = { keepForMs: 0 };
    try {
      verdict = await handle(world, message, invocation);
    } finally {
      // No queue would bring this timer back: what its step may still owe is looked after.
      if (verdict !== "release") await parkOwed(world, instanceId, due.id);
    }
    if (verdict !== "release") return taken.size;
    taken.add(due.id);
  }
}

function firstDue(
  world: World,
  { instance }: Image,
  taken: ReadonlySet<string>,
): TimerTicket | undefined {
  const now = timeOf(world, instance);
  const others = instance.tickets.filter(({ id }) => !taken.has(id));
  const first = earliestTimer({ tickets: others });
  return first && isDue(first, now) ? first : undefined;
}

function parkOwed(world: World, instanceId: string, name: string): Promise<void> {
  return world.parking.park({ kind: "owed", tenant: world.settings.tenant, instanceId, name });
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
  if (timer === undefined) return redeliver(world, image, name, invocation, "timer-due");
  const now = timeOf(world, image.instance);
  if (!isDue(timer, now)) return { keepForMs: timer.dueAt - now };
  const fact = { kind: "timer-due", ticket: name } as const;
  return settleAndSend(world, image, { name, fact }, invocation);
}
