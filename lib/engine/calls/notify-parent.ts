/**
 * A call learns what became of its child by a re-check. What it takes it reads from the child itself,
 * so nothing large travels through queues, and a re-check too many finds nothing.
 *
 * 1. The invocation that ends a child takes the step on the parent, where nothing is in the way; else
 *    the re-check is parked, and many are taken together. A batch item is never alone: its re-check is
 *    parked without reading the parent, so that a thousand ends do not read it a thousand times. Only
 *    a child that was cancelled reads first: mostly nothing waits for it any more.
 * 2. Everything that this step opens is owed by the ticket. A message that comes again after a crash
 *    finds the ticket gone, and has what the ticket owes sent.
 */
import { MAX_OPEN_TASKS_BEFORE_PARKING } from "../../definition/limits.ts";
import { findTicket, parseItemName } from "../../kernel/batch.ts";
import type { Instance } from "../../kernel/instance.ts";
import { openWork } from "../rows/open-tickets.ts";
import type { World } from "../world.ts";
import { parkOwed, parkRecheck, readOther, takeOrPark } from "./other-end.ts";

/** An awaited child has ended: its caller goes on. */
export async function notifyParent(world: World, child: Instance): Promise<void> {
  const { tenant, parent, status } = child;
  if (parent === undefined) return;
  const { instanceId, ticket } = parent;
  if (status !== "cancelled" && parseItemName(ticket)) {
    world.observe?.({ kind: "outcome-parked", instanceId });
    return parkRecheck(world, { tenant, id: instanceId }, ticket);
  }
  const image = await readOther(world, instanceId);
  if (image === undefined || image === "unreadable") return;
  const { instance } = image;
  if (findTicket(instance.tickets, ticket) === undefined) return parkOwed(world, image, ticket);
  if (openWork(world, instance) > MAX_OPEN_TASKS_BEFORE_PARKING) {
    return parkRecheck(world, instance, ticket);
  }
  return takeOrPark(world, image, { name: ticket, look: ticket });
}
