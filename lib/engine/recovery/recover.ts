/**
 * Recovery: looks at every instance that somebody must look at, and sends again what no queue
 * holds. It takes no step: that is for whoever gets the message, so running it at any time, twice
 * or beside everything else, changes nothing but the numbers it reports.
 *
 * What an instance owes depends on the handlers that this installation has. Where they have
 * changed since it was stored, its place in the due index is mended first.
 */
import { instantFrom } from "../../definition/time/instant.ts";
import { isBatch, isOfCalls, itemsOf, openIn } from "../../kernel/batch.ts";
import {
  type Instance,
  isTerminal,
  type TaskTicket,
  type TimerTicket,
} from "../../kernel/instance.ts";
import type { Item, Key } from "../../ports/store.ts";
import { liveIds } from "../instances/live.ts";
import { resendCalls, sendBatch, sendItems } from "../multi-instance/send-batch.ts";
import { isChild } from "../rows/child.ts";
import { offerAnew } from "../rows/offer.ts";
import { earliestTimer, isTask, isTimer, openTasks, runsHere } from "../rows/open-tickets.ts";
import { parseOffer } from "../rows/task-row.ts";
import { offerRows } from "../rows/task-rows.ts";
import type { PageRequest } from "../shapes/paging.ts";
import type { RecoveryReport } from "../shapes/reports.ts";
import { commit } from "../step/commit.ts";
import { send } from "../step/dispatch.ts";
import { isMasked, isSentByPage, leaseLeftMs, lookAtOf, mustBeSent } from "../step/owed.ts";
import { planWrite } from "../step/plan.ts";
import { taskMessage } from "../step/task-message.ts";
import { instanceIdOf, instanceKey } from "../storage/keys.ts";
import { type Image, imageOf, readInstance } from "../storage/stored-instance.ts";
import { sound } from "../storage/unreadable.ts";
import { rearmAllStarts } from "../timer-starts/schedules.ts";
import type { World } from "../world.ts";
import { countedWorld } from "./counted-world.ts";
import { type Reminded, remind } from "./remind.ts";
import { addTrouble, emptyTally, type Tally } from "./tally.ts";

export async function recover(world: World): Promise<RecoveryReport> {
  const tally = emptyTally();
  const offered = new Set<string>();
  for (const type of world.tasks.types()) {
    for await (const instanceId of adoptable(world, type, tally)) offered.add(instanceId);
  }
  const due: string[] = [];
  const others: Key[] = [];
  for await (const key of dueKeys(world)) {
    const instanceId = instanceIdOf(key);
    if (instanceId === undefined) others.push(key);
    else if (!offered.has(instanceId)) due.push(instanceId);
  }
  await recoverEach(world, tally, [...offered, ...due]);
  for (const key of others) await tryRemind(world, tally, key);
  return tally;
}

/**
 * A page of all live instances, newest first: sends again whatever they owe and arms their timers,
 * as if every queue had been emptied and every schedule deleted. For a store that was restored.
 */
export async function recoverAll(
  world: World,
  page: PageRequest,
): Promise<RecoveryReport & Readonly<{ nextCursor?: string }>> {
  const { ids, nextCursor } = await liveIds(world, page);
  const tally = emptyTally();
  await recoverEach(world, tally, ids, true);
  // They are few, and stand in no page of instances: the first page sees to all of them.
  if (page.cursor === undefined) {
    const starts = await rearmAllStarts(world, (key, error) =>
      addTrouble(world, tally, key, error),
    );
    tally.rearmed += starts.rearmed;
    tally.timersFired += starts.timersFired;
  }
  return { ...tally, ...(nextCursor !== undefined && { nextCursor }) };
}

/** Mailboxes, broadcasts, events and timer starts that nobody looks after any more. */
async function tryRemind(world: World, tally: Tally, key: Key): Promise<void> {
  try {
    const reminded = await remind(world, key);
    if (reminded !== undefined) tally[COUNT_OF[reminded]] += 1;
  } catch (error) {
    addTrouble(world, tally, key, error);
  }
}

const COUNT_OF = {
  mailbox: "mailboxesPoked",
  broadcast: "broadcastsResumed",
  event: "eventsOffered",
  "timer-start": "timersFired",
} as const satisfies Record<Reminded, keyof Tally>;

async function recoverEach(
  world: World,
  tally: Tally,
  ids: readonly string[],
  isAllLost = false,
): Promise<void> {
  const { counted, sent } = countedWorld(world);
  for (const instanceId of ids) {
    const before = sent();
    try {
      const image = await loadAligned(counted, instanceId);
      const done = image ? await recoverOne(counted, image, tally, isAllLost) : NOTHING;
      const wasSent = sent() > before || done.children > 0;
      if (wasSent) tally.resumed += 1;
      else if (done.timers === 0) tally.skipped += 1;
    } catch (error) {
      addTrouble(world, tally, instanceKey(world.settings.tenant, instanceId), error);
    }
    tally.resent += sent() - before;
  }
}

const NOTHING = { children: 0, timers: 0 } as const;

/** Handlers come and go: what was masked may be covered now, and the other way round. */
async function loadAligned(world: World, instanceId: string): Promise<Image | undefined> {
  const item = await readInstance(world, instanceId);
  if (item === undefined) return undefined;
  const image = await imageOf(world, item);
  const { instance, program } = image;
  if (item.lookAt === lookAtOf(world, instance)) return image;
  // From then on the due index does not lead here any more: those outside must find it.
  const outside = openTasks(instance.tickets).filter((task) => !runsHere(world, task));
  await Promise.all(outside.map((task) => offerAnew(world, instance, task)));
  const outcome = await commit(world, planWrite(world, program, instance, instance), null);
  return outcome.kind === "committed" ? outcome.image : image;
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
  { instance }: Image,
  tally: Tally,
  isAllLost: boolean,
): Promise<Readonly<{ children: number; timers: number }>> {
  const children = await resendTickets(world, instance, isAllLost);
  await resendRecords(world, instance);
  const timers = await rearmTimers(world, instance, tally, isAllLost);
  return { children, timers };
}

/**
 * Tasks and continuations that no queue of this host holds and that nobody works on; waits for
 * broadcasts as well, where nobody may have looked a second time what they have missed. Says for how
 * many children there was anything to do: one that owes nothing but time begins without a message.
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
  const members = await resendMembers(world, instance, isAllLost);
  return members + (await resendChildren(world, instance));
}

/**
 * Of a family only the members that nobody holds; of one that calls, as with other children. Says
 * for how many children there was anything to do.
 */
async function resendMembers(
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
  return begun;
}

/**
 * A lease keeps what runs here from running twice. Outside it keeps nobody from anything: where all
 * is lost, whoever had it may be gone before the task was offered to anybody.
 */
function isLost(world: World, instance: Instance, task: TaskTicket, isAllLost: boolean): boolean {
  return !isAtWork(world, instance, task) || (isAllLost && !runsHere(world, task));
}

/**
 * Who holds a lease may be at work, or gone with everything else: nobody can tell before it ends. A
 * message that comes then finds the task done, or runs it.
 */
async function sendAfterLease(world: World, instance: Instance): Promise<void> {
  const here = openTasks(instance.tickets).filter((task) => runsHere(world, task));
  for (const task of here) {
    if (world.tasks.holds(instance.id, task.id) || !isLeased(world, task)) continue;
    const notBefore = instantFrom(Math.max(task.stamp?.until ?? 0, task.notBefore ?? 0));
    await world.tasks.send({ ...taskMessage(instance, task), notBefore });
  }
}

/** A child that lives looks after itself: only what has not begun, or was not told of, is sent. */
async function resendChildren(world: World, instance: Instance): Promise<number> {
  let sent = 0;
  for (const ticket of instance.tickets.filter(isChild)) {
    if (await world.senders.startChild(world, instance, ticket)) sent += 1;
  }
  return sent;
}

function isAtWork(world: World, { id }: Instance, task: TaskTicket): boolean {
  return world.tasks.holds(id, task.id) || isLeased(world, task);
}

const isLeased = (world: World, { stamp }: TaskTicket): boolean =>
  stamp !== undefined && leaseLeftMs(world, stamp) > 0;

/** What is in the outbox is sent by whoever is told to look after its trigger's debts. */
async function resendRecords(world: World, instance: Instance): Promise<void> {
  const names = new Set(instance.outbox.flatMap(({ stamp }) => (stamp ? [stamp.by] : [])));
  const { tenant, id: instanceId } = instance;
  for (const name of names) await world.parking.park({ kind: "owed", tenant, instanceId, name });
}

/**
 * An overdue timer is armed for the past, so it fires at once. Of those ahead only the earliest is
 * armed, and only where the store's own index does not cover it. What the index covers must not
 * fire by another way as well: the second to come would send again what the first has sent. Says
 * how many there were.
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
  const arm = ({ id: ticket, dueAt }: TimerTicket) =>
    world.timers.arm({ tenant, instanceId, ticket, dueAt, covered: !masked });
  const overdue = instance.tickets.filter(isTimer).filter(({ dueAt }) => dueAt <= now);
  for (const timer of overdue) {
    await arm(timer);
    tally.timersFired += 1;
  }
  const earliest = earliestTimer(instance);
  const isLost = earliest !== undefined && earliest.dueAt > now && (masked || isAllLost);
  if (!isLost) return overdue.length;
  await arm(earliest);
  tally.rearmed += 1;
  return overdue.length + 1;
}

/** Instances with tasks that were offered when nobody here could run them, and now somebody can. */
async function* adoptable(world: World, type: string, tally: Tally): AsyncGenerator<string> {
  let cursor: string | undefined;
  do {
    const page = await offerRows(world, type, { limit: 100, ...(cursor && { cursor }) });
    for (const row of page.items) {
      const offer = readOffer(world, tally, row);
      if (offer !== undefined) yield offer.instanceId;
    }
    cursor = page.next;
  } while (cursor !== undefined);
}

function readOffer(world: World, tally: Tally, { key, body }: Item) {
  try {
    return sound(`the offer ${key.pk} / ${key.sk}`, () => parseOffer(body));
  } catch (error) {
    addTrouble(world, tally, key, error);
    return undefined;
  }
}
