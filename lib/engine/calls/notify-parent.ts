/**
 * A call is told what became of its child, by being made to look. What it takes it reads from the
 * child itself, so nothing large travels through queues, and a look too many finds nothing.
 *
 * 1. Whoever ends a child takes the step on the parent, where nobody is in the way; else the look
 *    is parked, and many are taken together. One of a family is never alone: its look is parked
 *    without asking, so that a thousand ends do not read the parent a thousand times. Only a child
 *    that was cancelled asks first: mostly nobody waits for it any more.
 * 2. Everything that this step opens is owed by the ticket. Who comes again after a crash finds the
 *    ticket gone, and lets somebody look after what it owes.
 */
import { MAX_OPEN_TASKS_BEFORE_PARKING } from "../../definition/limits.ts";
import { findTicket, parseItemName } from "../../kernel/batch.ts";
import type { Instance } from "../../kernel/instance.ts";
import { openWork } from "../rows/open-tickets.ts";
import { commitWithRetry } from "../step/commit-with-retry.ts";
import { afterCommit } from "../step/dispatch.ts";
import { isNothing, owedBy } from "../step/owed.ts";
import { dropSentRecords } from "../step/redelivery.ts";
import { instanceKey } from "../storage/keys.ts";
import { type Image, loadInstance } from "../storage/stored-instance.ts";
import { isDamaged, readable } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

/** An awaited child has ended: whoever called it goes on. */
export async function notifyParent(world: World, child: Instance): Promise<void> {
  const { tenant, parent, status } = child;
  if (parent === undefined) return;
  const { instanceId, ticket } = parent;
  if (status !== "cancelled" && parseItemName(ticket)) {
    world.observe?.({ kind: "outcome-parked", instanceId });
    return parkRecheck(world, { tenant, id: instanceId }, ticket);
  }
  const key = instanceKey(tenant, instanceId);
  const image = await readable(world, key, () => loadInstance(world, instanceId), isDamaged);
  if (image === undefined || image === "unreadable") return;
  const { instance } = image;
  if (findTicket(instance.tickets, ticket) === undefined) return parkOwed(world, image, ticket);
  if (openWork(world, instance) > MAX_OPEN_TASKS_BEFORE_PARKING) {
    return parkRecheck(world, instance, ticket);
  }
  const owner = { own: null, until: world.clock.now() };
  const settled = await commitWithRetry(world, image, { name: ticket, look: ticket }, owner);
  switch (settled.kind) {
    case "settled": {
      const sent = await afterCommit(world, settled.plan);
      const verdict = await dropSentRecords(world, settled.image, sent, null);
      return verdict === "release" ? undefined : parkOwed(world, settled.image, ticket);
    }
    case "gone":
      return settled.image && parkOwed(world, settled.image, ticket);
    case "contended":
    case "overtaken":
      world.observe?.({ kind: "outcome-parked", instanceId });
      return parkRecheck(world, instance, ticket);
  }
}

/** Lets the parent look at what it has called. */
export function parkRecheck(
  world: World,
  { tenant, id: instanceId }: Pick<Instance, "tenant" | "id">,
  ticket: string,
): Promise<void> {
  return world.parking.park({ kind: "look", tenant, instanceId, name: ticket, ticket });
}

/** Lets somebody send what a step under this name may have left behind. */
export async function parkOwed(world: World, { instance }: Image, name: string): Promise<void> {
  if (isNothing(owedBy(instance, name))) return;
  const { tenant, id: instanceId } = instance;
  await world.parking.park({ kind: "owed", tenant, instanceId, name });
}
