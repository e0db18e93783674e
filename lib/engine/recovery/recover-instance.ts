/**
 * Recovering one instance: sends again what it owes and no queue holds. What it owes depends on the
 * handlers that this installation has: where they have changed since it was stored, its place in the
 * due index is corrected first.
 */
import { instantFrom } from "../../definition/time/instant.ts";
import { isBatch, isOfCalls, itemsOf, openIn } from "../../kernel/batch.ts";
import { type Instance, isTerminal, type TaskTicket } from "../../kernel/instance.ts";
import { resendCalls, sendBatch, sendItems } from "../multi-instance/batch.ts";
import { isChild } from "../rows/child.ts";
import { offerAnew } from "../rows/offer.ts";
import { earliestTimer, isTask, isTimer, openTasks, runsHere } from "../rows/open-tickets.ts";
import { commit } from "../step/commit.ts";
import { send } from "../step/dispatch.ts";
import {
  isMasked,
  isSentByPage,
  leaseLeftMs,
  lookAtOf,
  mustBeSent,
  taskMessage,
} from "../step/owed.ts";
import { planWrite } from "../step/plan.ts";
import { type Image, imageOf, readInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import type { Tally } from "./tally.ts";

/** Handlers come and go: what was masked may be covered now, and the other way round. */
export async function loadAligned(world: World, instanceId: string): Promise<Image | undefined> {
  const item = await readInstance(world, instanceId);
  if (item === undefined) return undefined;
  const image = await imageOf(world, item);
  const { instance, program } = image;
  if (item.lookAt === lookAtOf(world, instance)) return image;
  // From then on the due index does not show it any more: outside workers must find its tasks.
  const outside = openTasks(instance.tickets).filter((task) => !runsHere(world, task));
  await Promise.all(outside.map((task) => offerAnew(world, instance, task)));
  const outcome = await commit(world, planWrite(world, program, instance, instance), null);
  return outcome.kind === "committed" ? outcome.image : image;
}

/**
 * Says for how many children and timers there was anything to do: a child that owes nothing but time
 * begins without a message. `isAllLost`: no queue holds anything, and no timer is armed anywhere but
 * in the instance.
 */
export async function recoverOne(
  world: World,
  instance: Instance,
  tally: Tally,
  isAllLost: boolean,
): Promise<Readonly<{ children: number; timers: number }>> {
  const children = await resendTickets(world, instance, isAllLost);
  // The outbox is sent by the receiver of a message that names the trigger which owes it.
  const names = new Set(instance.outbox.flatMap(({ lease }) => (lease ? [lease.trigger] : [])));
  const { tenant, id: instanceId } = instance;
  for (const name of names) await world.parking.park({ kind: "owed", tenant, instanceId, name });
  return { children, timers: await rearmTimers(world, instance, tally, isAllLost) };
}

/**
 * Tasks and continuations that no queue of this host holds and no lease covers; where all is lost,
 * waits for broadcasts as well, which may have missed their second look.
 */
async function resendTickets(
  world: World,
  instance: Instance,
  isAllLost: boolean,
): Promise<number> {
  if (isTerminal(instance)) return 0;
  const lost = instance.tickets.filter((ticket) => {
    if (isTask(ticket)) return isLost(world, instance, ticket, isAllLost);
    if (isChild(ticket) || isBatch(ticket)) return false;
    return ticket.on === "continuation" || (isAllLost && mustBeSent(world, ticket));
  });
  await send(world, instance, { tickets: lost, outbox: [] });
  if (isAllLost) await sendAfterLease(world, instance);
  return resendItemsAndCalls(world, instance, isAllLost);
}

/**
 * Of a multi-instance batch only the items that are lost. A live child recovers by itself: of calls,
 * only what has not begun, or was not reported, is sent; says for how many that was so.
 */
async function resendItemsAndCalls(
  world: World,
  instance: Instance,
  isAllLost: boolean,
): Promise<number> {
  let begun = 0;
  for (const family of instance.tickets.filter(isBatch)) {
    if (isOfCalls(family)) {
      begun += await resendCalls(world, instance, family);
      continue;
    }
    const members = itemsOf(family);
    const lost = members.filter((it) => isTask(it) && isLost(world, instance, it, isAllLost));
    // Thousands go by page, as they did the first time: no call lasts that long.
    if (isSentByPage(world, family) && lost.length === openIn(family)) {
      await sendBatch(world, instance, family, "again");
    } else await sendItems(world, instance, lost, "again");
  }
  for (const ticket of instance.tickets.filter(isChild)) {
    if (await world.senders.startChild(world, instance, ticket)) begun += 1;
  }
  return begun;
}

/**
 * A lease keeps what runs here from running twice. For tasks of outside workers it says nothing: where
 * all is lost, its owner may be gone before the task was offered.
 */
function isLost(world: World, { id }: Instance, task: TaskTicket, isAllLost: boolean): boolean {
  const isAtWork = world.tasks.holds(id, task.id) || isLeased(world, task);
  return !isAtWork || (isAllLost && !runsHere(world, task));
}

/**
 * The owner of a lease may be at work, or gone with everything else: that is known only once the lease
 * ends. A message that comes then finds the task done, or runs it.
 */
async function sendAfterLease(world: World, instance: Instance): Promise<void> {
  const here = openTasks(instance.tickets).filter((task) => runsHere(world, task));
  for (const task of here) {
    if (world.tasks.holds(instance.id, task.id) || !isLeased(world, task)) continue;
    const notBefore = instantFrom(Math.max(task.lease?.expiresAt ?? 0, task.notBefore ?? 0));
    await world.tasks.send({ ...taskMessage(instance, task), notBefore });
  }
}

const isLeased = (world: World, { lease }: TaskTicket): boolean =>
  lease !== undefined && leaseLeftMs(world, lease) > 0;

/**
 * An overdue timer is armed for the past, so it fires at once. Of those ahead only the earliest is
 * armed, and only where the store's own index does not cover it. What the index covers must not fire
 * by another way as well: the second firing would send again what the first has sent. Says how many
 * were armed.
 */
async function rearmTimers(
  world: World,
  instance: Instance,
  tally: Tally,
  isAllLost: boolean,
): Promise<number> {
  const { tenant, id: instanceId } = instance;
  const now = world.clock.now();
  const masked = isMasked(world, instance);
  const due = instance.tickets.filter(isTimer).filter(({ dueAt }) => dueAt <= now);
  const earliest = earliestTimer(instance);
  const isLost = earliest !== undefined && earliest.dueAt > now && (masked || isAllLost);
  const timers = isLost ? [...due, earliest] : due;
  for (const { id: ticket, dueAt } of timers) {
    await world.timers.arm({ tenant, instanceId, ticket, dueAt, covered: !masked });
    tally[dueAt <= now ? "timersFired" : "rearmed"] += 1;
  }
  return timers.length;
}
