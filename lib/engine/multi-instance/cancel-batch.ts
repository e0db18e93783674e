/**
 * A batch of calls was cut short: the children of its open items are cancelled, and those that have
 * not begun never will.
 *
 * 1. They are cancelled by page, each a trigger of its own that names its items: the batch is gone
 *    from the instance, and the order to cancel may be dropped as soon as the pages are queued. A
 *    hundred children may each have a hundred of their own: the invocation that carries out the order
 *    cancels only a few.
 * 2. Queues in memory forget their pages, and nothing would bring them back: there all are cancelled
 *    before the order is dropped.
 */
import { MAX_MEMBERS_APART, MEMBERS_PER_PAGE } from "../../definition/limits.ts";
import { batchNamed, itemName } from "../../kernel/batch.ts";
import { gapsIn } from "../../kernel/bits.ts";
import type { Instance, TicketlessEffect } from "../../kernel/instance.ts";
import type { CancelMembersMessage, Verdict } from "../../ports/message.ts";
import { someAtOnce } from "../storage/some-at-once.ts";
import { loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";

type Order = Extract<TicketlessEffect, { kind: "cancel-children" }>;

/** Cancels what the open items have begun, or sends the pages that will. */
export async function cancelBatch(
  world: World,
  parent: Instance,
  { family, size, taken }: Order,
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
  const cancel = (n: number) => world.senders.cancelChild(world, parent, itemName(family, n));
  await someAtOnce(numbers, cancel);
}
