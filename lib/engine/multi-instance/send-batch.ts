/**
 * How the members of a family leave.
 *
 * 1. The family's ticket is the entry: whoever owes it sends every member whose bit is not set, and
 *    may do so again. A task that is sent twice runs twice at most, and counts once; a child that is
 *    begun twice is one, since its id comes from the member's name.
 * 2. Many members are sent by page. A page is a trigger of its own: it stays queued until its
 *    members have left, and says nothing but which they are. What is open the instance says.
 */
import { type BatchItem, batchNamed, itemsOf } from "../../kernel/batch.ts";
import type { BatchTicket, Instance } from "../../kernel/instance.ts";
import type { MembersMessage, Verdict } from "../../ports/message.ts";
import { offerTask } from "../rows/offer.ts";
import { runsHere } from "../rows/open-tickets.ts";
import { isSentByPage, pageSizeIn } from "../step/owed.ts";
import { taskMessage } from "../step/task-message.ts";
import { someAtOnce } from "../storage/some-at-once.ts";
import { loadInstance } from "../storage/stored-instance.ts";
import type { Sending, World } from "../world.ts";

/** Sends every open member, or the pages that will. */
export async function sendBatch(
  world: World,
  instance: Instance,
  family: BatchTicket,
  how: Sending,
): Promise<void> {
  if (!isSentByPage(world, family)) {
    await sendItems(world, instance, itemsOf(family), how);
    return;
  }
  const perPage = pageSizeIn(world);
  const { tenant, id: instanceId } = instance;
  for (let from = 0; from < family.size; from += perPage) {
    const to = Math.min(family.size, from + perPage);
    await world.pages.send({ kind: "members", tenant, instanceId, ticket: family.id, from, to });
  }
}

/** Sends the open members of one page; then the page may go. */
export async function sendBatchPage(
  world: World,
  { instanceId, ticket, from, to }: MembersMessage,
): Promise<Verdict> {
  const image = await loadInstance(world, instanceId);
  const family = image && batchNamed(image.instance.tickets, ticket);
  if (image === undefined || family === undefined) return "release";
  if (world.aside !== undefined && to - from > 1) {
    // One of its members may be the reason why it came too often: each gets a message of its own.
    const { tenant } = image.instance;
    for (let n = from; n < to; n += 1) {
      const page = { kind: "members", tenant, instanceId, ticket, from: n, to: n + 1 } as const;
      await world.pages.send(page);
    }
    return "release";
  }
  // The page may have come before: nobody can tell what it has sent then.
  await sendItems(world, image.instance, itemsOf(family, { from, to }), "again");
  return "release";
}

/**
 * Sends these members, each as the task or the call that it is; says for how many calls there was
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
