/** What leaves after a commit. Sending twice is harmless: receivers go by tickets and ids. */
import {
  broadcastIdOf,
  type Instance,
  type OutboxRecord,
  type TaskTicket,
  type Ticket,
  type TimerTicket,
} from "../../kernel/instance.ts";
import type { Topic } from "../../ports/bus.ts";
import { acceptSignal, publish } from "../rows/broadcast.ts";
import { type LockedRow, stopClosed, tidyClosed } from "../rows/closed.ts";
import { expireLeft } from "../rows/left.ts";
import { isFirstRow, isOfferedInCommit, offer, showOffer } from "../rows/offer.ts";
import { type Entries, earliestTimer, openTasks, runsHere } from "../rows/open-tickets.ts";
import { deliveryName } from "../storage/names.ts";
import type { Sending, World } from "../world.ts";
import { isMasked, isSentByPage, mustBeSent, taskMessage } from "./owed.ts";
import type { Plan } from "./plan.ts";
import { parkWant } from "./take.ts";

/** Sends every entry, `again` where it may have been sent before; gives the outbox records that left. */
export async function send(
  world: World,
  instance: Instance,
  { tickets, outbox }: Entries,
  how: Sending = "again",
): Promise<ReadonlySet<string>> {
  for (const ticket of tickets) await sendTicket(world, instance, ticket, how);
  for (const record of outbox) await sendRecord(world, instance, record);
  return new Set(outbox.map(({ id }) => id));
}

export type AfterCommit = Readonly<{
  /** A task that its driver runs itself. */
  keep?: TaskTicket | undefined;
  /** A wait whose row the caller removes itself. */
  leaves?: string | undefined;
  held?: LockedRow | undefined;
}>;

/**
 * Everything that follows a commit: stops what was closed, arms the earliest timer and sends what
 * is newly owed. Gives the outbox records that left.
 */
export async function afterCommit(
  world: World,
  plan: Plan,
  { keep, leaves, held }: AfterCommit = {},
): Promise<ReadonlySet<string>> {
  stopClosed(world, plan);
  await rearm(world, plan);
  const { tickets, outbox } = plan.fresh;
  const leaving = tickets
    .filter(({ id, on }) => id !== keep?.id && on !== "timer")
    .filter((ticket) => !isOfferedInCommit(world, plan, ticket));
  const { instance } = plan.image;
  const firsts = leaving.filter((ticket) => isFirstRow(plan, ticket));
  await send(world, instance, { tickets: firsts, outbox: [] }, "first");
  const others = leaving.filter((ticket) => !isFirstRow(plan, ticket));
  const sent = await send(world, instance, { tickets: others, outbox });
  await parkUnserved(world, plan);
  const mayGo = ({ id }: Ticket) => id !== leaves;
  await tidyClosed(world, plan, { justSent: plan.took, mayGo, held });
  return sent;
}

/**
 * What a request does itself before it answers, though its parked copy does it again: its caller
 * expects to find the new tasks in the next list. Those that a batch sends by page come a little later.
 */
export const showCaller = (world: World, plan: Plan, held?: LockedRow): Promise<void> =>
  show(world, plan, { held });

/**
 * The same for a call that delivers a broadcast: rows of its topic stay, since the bus's copy goes by
 * them. Other rows that the step has closed go now: the copy does not know them.
 */
export const showDelivered = (world: World, plan: Plan, topic: Topic): Promise<void> =>
  show(world, plan, { mayGo: ({ on, name }) => on !== topic.kind || name !== topic.name });

async function show(world: World, plan: Plan, tidying: Parameters<typeof tidyClosed>[2]) {
  stopClosed(world, plan);
  await rearm(world, plan);
  const shown = plan.fresh.tickets.filter((ticket) => !isSentByPage(world, ticket));
  const offers = openTasks(shown).filter((task) => !runsHere(world, task));
  for (const task of offers) await showOffer(world, plan, task);
  await parkUnserved(world, plan);
  await tidyClosed(world, plan, tidying);
}

/** There was more at hand than fits into one commit: those waits are checked again. */
async function parkUnserved(world: World, { image, unserved }: Plan): Promise<void> {
  for (const { id } of image.instance.tickets.filter((ticket) => unserved.has(ticket.id))) {
    await parkWant(world, image.instance, { name: deliveryName(id, "more"), look: id });
  }
}

/** Arms the instance's earliest timer when a commit has changed which one that is. */
export async function rearm(world: World, { before, image }: Plan): Promise<void> {
  const { instance } = image;
  const earliest = earliestTimer(instance);
  const covered = !isMasked(world, instance);
  const last = earliestTimer(before);
  if (last && last.id !== earliest?.id) {
    const { tenant, id: instanceId } = instance;
    const { id: ticket, dueAt, since } = last;
    await world.timers.disarm({ tenant, instanceId, ticket, dueAt, since });
  }
  if (earliest === undefined) return;
  if (last?.id === earliest.id && covered === !isMasked(world, before)) return;
  await arm(world, instance, earliest, covered);
}

async function sendTicket(
  world: World,
  instance: Instance,
  ticket: Ticket,
  how: Sending,
): Promise<void> {
  switch (ticket.on) {
    case "task":
      return runsHere(world, ticket)
        ? world.tasks.send(taskMessage(instance, ticket))
        : offer(world, instance, ticket, how);
    case "family":
      return world.senders.sendBatch(world, instance, ticket, how);
    case "timer":
      return earliestTimer(instance)?.id === ticket.id
        ? arm(world, instance, ticket, !isMasked(world, instance))
        : undefined;
    case "continuation": {
      const fact = { kind: "continued", ticket: ticket.id } as const;
      return parkWant(world, instance, { name: ticket.id, fact });
    }
    case "child":
      await world.senders.startChild(world, instance, ticket);
      return undefined;
    case "signal":
    case "event":
      return mustBeSent(world, ticket)
        ? world.senders.sendMissed(world, instance, ticket)
        : undefined;
    case "message":
    case "incident":
      return undefined;
  }
}

/**
 * A timer that the index covers is late at worst if it cannot be armed: the sweep fires it. The step
 * has committed and goes on, and a caller gets the true answer.
 */
async function arm(
  world: World,
  { tenant, id: instanceId }: Instance,
  { id: ticket, dueAt }: TimerTicket,
  covered: boolean,
): Promise<void> {
  try {
    await world.timers.arm({ tenant, instanceId, ticket, dueAt, covered });
  } catch (error) {
    if (!covered) throw error;
    world.onTrouble?.(`timer ${ticket} of instance ${instanceId} was not armed`, error);
  }
}

async function sendRecord(world: World, instance: Instance, record: OutboxRecord): Promise<void> {
  const { tenant, id: instanceId, definition } = instance;
  switch (record.effect.kind) {
    case "announce":
      return world.bus.announce?.({
        id: `${instanceId}:${record.id}`,
        tenant,
        instanceId,
        definition: { id: definition.id, version: definition.version },
        notice: record.effect.notice,
      });
    case "publish-signal": {
      const { name, payload } = record.effect;
      const id = broadcastIdOf(instanceId, record.id);
      const { broadcast } = await acceptSignal(world, { id, name, payload });
      await publish(world, broadcast);
      return undefined;
    }
    case "send-event":
      return world.senders.sendLeft(world, instance, record.effect);
    case "bury":
      return world.senders.bury(world, instanceId, record.effect);
    case "cancel-child":
      return world.senders.cancelChild(world, instance, record.effect.ticket);
    case "cancel-children":
      return world.senders.cancelBatch(world, instance, record.effect);
    case "notify-parent":
      return world.senders.notifyParent(world, instance);
    case "expire-chunks":
      return expireLeft(world, instance);
  }
}
