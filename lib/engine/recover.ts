/**
 * Recovery: looks at every instance that somebody must look at, and sends again what no queue
 * holds. It takes no step: that is for whoever gets the message, so running it at any time, twice
 * or beside everything else, changes nothing but the numbers it reports.
 *
 * What an instance owes depends on the handlers that this installation has. Where they have
 * changed since it was stored, its place in the due index is mended first.
 */
import { instantFrom } from "../definition/time/instant.ts";
import { isFamily, membersOf } from "../kernel/family.ts";
import {
  type Instance,
  isTerminal,
  type TaskTicket,
  type TimerTicket,
} from "../kernel/instance.ts";
import type { Key } from "../ports/store.ts";
import { isChild } from "./children/child.ts";
import { commit } from "./commit.ts";
import { send } from "./dispatch.ts";
import type { PageRequest, RecoveryReport } from "./engine.ts";
import { sendMembers } from "./families/send-family.ts";
import { instanceIdOf } from "./keys.ts";
import { liveImages } from "./listing.ts";
import { offerAnew } from "./offer.ts";
import {
  earliestTimer,
  isMasked,
  isTask,
  isTimer,
  leaseLeftMs,
  lookAtOf,
  mustBeSent,
  openTasks,
  runsHere,
} from "./owed.ts";
import { planWrite } from "./plan.ts";
import { type Reminded, remind } from "./remind.ts";
import { type Image, imageOf, readInstance } from "./stored-instance.ts";
import { taskMessage } from "./task-message.ts";
import { rearmAllStarts } from "./timer-starts/schedules.ts";
import { offerRows, parseOffer } from "./workers/rows.ts";
import type { World } from "./world.ts";

export async function recover(world: World): Promise<RecoveryReport> {
  const counts = { resumed: 0, rearmed: 0, timersFired: 0, resent: 0, skipped: 0 };
  const offered = new Set<string>();
  for (const type of world.tasks.types()) {
    for await (const instanceId of adoptable(world, type)) offered.add(instanceId);
  }
  const due: string[] = [];
  const others: Key[] = [];
  for await (const key of dueKeys(world)) {
    const instanceId = instanceIdOf(key);
    if (instanceId === undefined) others.push(key);
    else if (!offered.has(instanceId)) due.push(instanceId);
  }
  for (const instanceId of [...offered, ...due]) add(counts, await tryRecover(world, instanceId));
  const { timersFired, ...reminded } = await remindAll(world, others);
  return { ...counts, ...reminded, timersFired: counts.timersFired + timersFired };
}

/**
 * A page of all live instances, newest first: sends again whatever they owe and arms their timers,
 * as if every queue had been emptied and every schedule deleted. For a store that was restored.
 */
export async function recoverAll(
  world: World,
  page: PageRequest,
): Promise<RecoveryReport & Readonly<{ nextCursor?: string }>> {
  const { images, nextCursor } = await liveImages(world, page);
  const counts = { resumed: 0, rearmed: 0, timersFired: 0, resent: 0, skipped: 0 };
  for (const { instance } of images) add(counts, await tryRecover(world, instance.id, true));
  // They are few, and stand in no page of instances: the first page sees to all of them.
  if (page.cursor === undefined) {
    const starts = await rearmAllStarts(world);
    counts.rearmed += starts.rearmed;
    counts.timersFired += starts.timersFired;
  }
  const others = { mailboxesPoked: 0, broadcastsResumed: 0, eventsOffered: 0 };
  return { ...counts, ...others, ...(nextCursor !== undefined && { nextCursor }) };
}

/** Mailboxes, broadcasts, events and timer starts that nobody looks after any more. */
async function remindAll(world: World, keys: readonly Key[]) {
  const counts = { mailboxesPoked: 0, broadcastsResumed: 0, eventsOffered: 0, timersFired: 0 };
  for (const key of keys) {
    const reminded = await tryRemind(world, key);
    if (reminded === "mailbox") counts.mailboxesPoked += 1;
    if (reminded === "broadcast") counts.broadcastsResumed += 1;
    if (reminded === "event") counts.eventsOffered += 1;
    if (reminded === "timer-start") counts.timersFired += 1;
  }
  return counts;
}

async function tryRemind(world: World, key: Key): Promise<Reminded> {
  try {
    return await remind(world, key);
  } catch (error) {
    world.onTrouble?.(`${key.pk} / ${key.sk} was not recovered`, error);
    return undefined;
  }
}

/** An instance that cannot be read is told of and left alone: the others go on. */
async function tryRecover(world: World, instanceId: string, isAllLost = false): Promise<Counts> {
  try {
    return await recoverOne(world, await loadAligned(world, instanceId), isAllLost);
  } catch (error) {
    world.onTrouble?.(`instance ${instanceId} was not recovered`, error);
    return NOTHING;
  }
}

/** Handlers come and go: what was masked may be covered now, and the other way round. */
async function loadAligned(world: World, instanceId: string): Promise<Image | undefined> {
  const item = await readInstance(world, instanceId);
  if (item === undefined) return undefined;
  const image = await imageOf(world, item);
  const { instance, program } = image;
  if (item.lookAt === lookAtOf(world, instance)) return image;
  // From then on the due index does not lead here any more: those outside must find it.
  for (const task of openTasks(instance.tickets).filter((it) => !runsHere(world, it))) {
    await offerAnew(world, instance, task);
  }
  const outcome = await commit(world, planWrite(world, program, instance, instance), null);
  return outcome.kind === "committed" ? outcome.image : image;
}

type Counts = {
  -readonly [K in "resumed" | "rearmed" | "timersFired" | "resent" | "skipped"]: number;
};

function add(counts: Counts, done: Counts): void {
  counts.resumed += done.resumed;
  counts.rearmed += done.rearmed;
  counts.timersFired += done.timersFired;
  counts.resent += done.resent;
  counts.skipped += done.skipped;
}

async function* dueKeys(world: World): AsyncGenerator<Key> {
  let after: string | undefined;
  do {
    const page = await world.store.due(world.clock.now(), { index: 0, of: 1 }, after);
    yield* page.items;
    after = page.next;
  } while (after !== undefined);
}

/** `isAllLost`: no queue holds anything, and no timer is armed anywhere but in the instance. */
async function recoverOne(
  world: World,
  image: Image | undefined,
  isAllLost = false,
): Promise<Counts> {
  if (image === undefined) return NOTHING;
  const { instance } = image;
  const resent =
    (await resendTickets(world, instance, isAllLost)) + (await resendRecords(world, instance));
  const { timersFired, rearmed } = await rearmTimers(world, instance, isAllLost);
  const didAnything = resent + timersFired + rearmed > 0;
  return {
    resumed: resent > 0 ? 1 : 0,
    rearmed,
    timersFired,
    resent,
    skipped: didAnything ? 0 : 1,
  };
}

const NOTHING: Counts = { resumed: 0, rearmed: 0, timersFired: 0, resent: 0, skipped: 1 };

/**
 * Tasks and continuations that no queue of this host holds and that nobody works on; waits for
 * broadcasts as well, where nobody may have looked a second time what they have missed.
 */
async function resendTickets(
  world: World,
  instance: Instance,
  isAllLost: boolean,
): Promise<number> {
  if (isTerminal(instance)) return 0;
  const lost = instance.tickets.filter((ticket) => {
    if (isTask(ticket)) return !isAtWork(world, instance, ticket);
    if (isChild(ticket) || isFamily(ticket)) return false;
    return ticket.on === "continuation" || (isAllLost && mustBeSent(world, ticket));
  });
  await send(world, instance, { tickets: lost, outbox: [] });
  const resent = lost.filter((it) => it.on === "continuation" || runsHere(world, it)).length;
  const leased = isAllLost ? await sendAfterLease(world, instance) : 0;
  const others = (await resendChildren(world, instance)) + (await resendMembers(world, instance));
  return resent + leased + others;
}

/** Of a family only the members that nobody holds. */
async function resendMembers(world: World, instance: Instance): Promise<number> {
  let sent = 0;
  for (const family of instance.tickets.filter(isFamily)) {
    const lost = membersOf(family).filter((member) => !isAtWork(world, instance, member));
    await sendMembers(world, instance, lost, "again");
    sent += lost.filter((member) => runsHere(world, member)).length;
  }
  return sent;
}

/**
 * Who holds a lease may be at work, or gone with everything else: nobody can tell before it ends. A
 * message that comes then finds the task done, or runs it.
 */
async function sendAfterLease(world: World, instance: Instance): Promise<number> {
  const here = openTasks(instance.tickets).filter((task) => runsHere(world, task));
  let sent = 0;
  for (const task of here) {
    if (world.tasks.holds(instance.id, task.id) || !isLeased(world, task)) continue;
    const notBefore = instantFrom(Math.max(task.stamp?.until ?? 0, task.notBefore ?? 0));
    await world.tasks.send({ ...taskMessage(instance, task), notBefore });
    sent += 1;
  }
  return sent;
}

/** A child that lives looks after itself: only what has not begun, or was not told of, is sent. */
async function resendChildren(world: World, instance: Instance): Promise<number> {
  let sent = 0;
  for (const ticket of instance.tickets.filter(isChild)) {
    if (await world.children?.start(world, instance, ticket)) sent += 1;
  }
  return sent;
}

function isAtWork(world: World, { id }: Instance, task: TaskTicket): boolean {
  return world.tasks.holds(id, task.id) || isLeased(world, task);
}

const isLeased = (world: World, { stamp }: TaskTicket): boolean =>
  stamp !== undefined && leaseLeftMs(world, stamp) > 0;

/** What is in the outbox is sent by whoever is told to look after its trigger's debts. */
async function resendRecords(world: World, instance: Instance): Promise<number> {
  const names = new Set(instance.outbox.flatMap(({ stamp }) => (stamp ? [stamp.by] : [])));
  const { tenant, id: instanceId } = instance;
  for (const name of names) await world.parking.park({ kind: "owed", tenant, instanceId, name });
  return names.size;
}

/**
 * An overdue timer is armed for the past, so it fires at once. Of those ahead only the earliest is
 * armed, and only where the store's own index does not cover it. What the index covers must not
 * fire by another way as well: the second to come would send again what the first has sent.
 */
async function rearmTimers(
  world: World,
  instance: Instance,
  isAllLost: boolean,
): Promise<{ timersFired: number; rearmed: number }> {
  const { tenant, id: instanceId } = instance;
  const now = world.clock.now();
  const masked = isMasked(world, instance);
  const arm = ({ id: ticket, dueAt }: TimerTicket) =>
    world.timers.arm({ tenant, instanceId, ticket, dueAt, covered: !masked });
  const overdue = instance.tickets.filter(isTimer).filter(({ dueAt }) => dueAt <= now);
  for (const timer of overdue) await arm(timer);
  const earliest = earliestTimer(instance);
  const isLost = earliest !== undefined && earliest.dueAt > now && (masked || isAllLost);
  if (isLost) await arm(earliest);
  return { timersFired: overdue.length, rearmed: isLost ? 1 : 0 };
}

/** Instances with tasks that were offered when nobody here could run them, and now somebody can. */
async function* adoptable(world: World, type: string): AsyncGenerator<string> {
  let cursor: string | undefined;
  do {
    const page = await offerRows(world, type, { limit: 100, ...(cursor && { cursor }) });
    for (const row of page.items) yield parseOffer(row.body).instanceId;
    cursor = page.next;
  } while (cursor !== undefined);
}
