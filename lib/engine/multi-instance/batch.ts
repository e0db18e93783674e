/**
 * How the items of a batch leave.
 *
 * 1. The batch's ticket is the entry: the trigger that owes it sends every item whose bit is not set,
 *    and may do so again. A task that is sent twice runs twice at most, and counts once; a child that
 *    is begun twice is one, since its id comes from the item's name.
 * 2. Many items are sent by page. A page is a trigger of its own: it stays queued until its items
 *    have left, and says nothing but which they are. What is open the instance says.
 */

import { MAX_MEMBERS_APART, MEMBERS_PER_PAGE } from "../../definition/limits.ts";
import { type BatchItem, batchNamed, itemName, itemsOf } from "../../kernel/batch.ts";
import { gapsIn } from "../../kernel/bits.ts";
import type { BatchTicket, CallBatch, Instance } from "../../kernel/instance.ts";
import type { CancelMembersMessage, MembersMessage, Verdict } from "../../ports/message.ts";
import { childIdOf } from "../rows/child.ts";
import { offerTask } from "../rows/offer.ts";
import { runsHere } from "../rows/open-tickets.ts";
import { isSentByPage, pageSizeIn, taskMessage } from "../step/owed.ts";
import { someAtOnce } from "../storage/in-process.ts";
import { readMany } from "../storage/items.ts";
import { instanceKey } from "../storage/keys.ts";
import { loadInstance } from "../storage/stored-instance.ts";
import type { Effect, Sending, World } from "../world.ts";

/** Sends every open item, or the pages that will. */
export async function sendBatch(
  world: World,
  instance: Instance,
  family: BatchTicket,
  how: Sending,
): Promise<void> {
  const all = { ticket: family.id, from: 0, to: family.size };
  if (isSentByPage(world, family)) await sendPages(world, instance, all, pageSizeIn(world));
  else await sendItems(world, instance, itemsOf(family), how);
}

async function sendPages(
  world: World,
  { tenant, id: instanceId }: Instance,
  { ticket, from: first, to: end }: Pick<MembersMessage, "ticket" | "from" | "to">,
  perPage: number,
): Promise<void> {
  for (let from = first; from < end; from += perPage) {
    const to = Math.min(end, from + perPage);
    await world.workQueue.send({ kind: "members", tenant, instanceId, ticket, from, to });
  }
}

/** Sends the open items of one page; then the page may go. */
export async function sendBatchPage(
  world: World,
  { instanceId, ticket, from, to }: MembersMessage,
): Promise<Verdict> {
  const image = await loadInstance(world, instanceId);
  const family = image && batchNamed(image.instance.tickets, ticket);
  if (image === undefined || family === undefined) return "release";
  if (world.aside !== undefined && to - from > 1) {
    // One of its items may be the reason why it came too often: each gets a message of its own.
    await sendPages(world, image.instance, { ticket, from, to }, 1);
  } else {
    // The page may have come before: what it has sent then cannot be known.
    await sendItems(world, image.instance, itemsOf(family, { from, to }), "again");
  }
  return "release";
}

/**
 * Sends these items, each as the task or the call that it is; says for how many calls there was
 * anything to do.
 */
export async function sendItems(
  world: World,
  instance: Instance,
  members: readonly BatchItem[],
  how: Sending,
): Promise<number> {
  const begun = await someAtOnce(members, async (member) => {
    if (member.on === "child") return world.senders.startChild(world, instance, member);
    if (runsHere(world, member)) await world.tasks.send(taskMessage(instance, member));
    else await offerTask(world, instance, member, how);
    return false;
  });
  return begun.filter((isBegun) => isBegun).length;
}

/**
 * What a recovery does for a batch of calls: begins again the children that have not begun, and has
 * the ends taken of which the caller has not learned. Children are read many at a time, and not
 * decoded: one that has ended has an expiry. Says for how many there was anything to do; a child that
 * lives counts as nothing, and so do those that go by page.
 */
export async function resendCalls(
  world: World,
  instance: Instance,
  family: CallBatch,
): Promise<number> {
  const items = itemsOf(family);
  const keys = items.map(({ id }) => instanceKey(instance.tenant, childIdOf(world, instance, id)));
  const children = await readMany(world.store, keys);
  // A detached call waits for nothing but that its child is there.
  const lost = items.filter((_, n) => {
    const child = children[n];
    return child === undefined || child.expiresAt !== undefined || family.call.detached;
  });
  if (lost.length <= pageSizeIn(world)) return sendItems(world, instance, lost, "again");
  await sendBatch(world, instance, family, "again");
  return 0;
}

/**
 * A batch of calls was cut short: cancels the children of its open items, or sends the pages that
 * will; those that have not begun never will.
 *
 * 1. A page is a trigger of its own that names its items: the batch is gone from the instance, and
 *    the order to cancel may be dropped as soon as the pages are queued. A hundred children may each
 *    have a hundred of their own: the invocation that carries out the order cancels only a few.
 * 2. Queues in memory forget their pages, and nothing would bring them back: there all are cancelled
 *    before the order is dropped.
 */
export async function cancelBatch(
  world: World,
  parent: Instance,
  { family, size, taken }: Effect<"cancel-children">,
): Promise<void> {
  const { membersPerPage = MEMBERS_PER_PAGE, host } = world.settings;
  const open = gapsIn(taken, size);
  if (!host.queuesSurvive || open.length <= Math.min(membersPerPage, MAX_MEMBERS_APART)) {
    return cancelMembers(world, parent, family, open);
  }
  const { tenant, id: instanceId } = parent;
  const page = { kind: "cancel-members", tenant, instanceId, ticket: family } as const;
  for (let from = 0; from < open.length; from += membersPerPage) {
    await world.workQueue.send({ ...page, numbers: open.slice(from, from + membersPerPage) });
  }
}

/** Cancels the items of one page; then the page may go. */
export async function cancelItems(
  world: World,
  { instanceId, ticket, numbers }: CancelMembersMessage,
): Promise<Verdict> {
  const image = await loadInstance(world, instanceId);
  // A store that was restored may be from before the interruption: then nothing was cut short.
  if (image === undefined || batchNamed(image.instance.tickets, ticket)) return "release";
  await cancelMembers(world, image.instance, ticket, numbers);
  return "release";
}

async function cancelMembers(
  world: World,
  parent: Instance,
  family: string,
  numbers: readonly number[],
): Promise<void> {
  await someAtOnce(numbers, (n) => world.senders.cancelChild(world, parent, itemName(family, n)));
}
