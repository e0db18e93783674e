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
import { commitAndSend } from "../step/commit-and-send.ts";
import { isNothing, owedBy } from "../step/owed.ts";
import { noOwner, parkWant, type Want } from "../step/take.ts";
import { instanceKey } from "../storage/keys.ts";
import { type Image, loadInstance } from "../storage/stored-instance.ts";
import { isDamaged, readable } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

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

/** The instance at the other end of a call; one that is damaged holds up nothing else. */
export const readOther = (world: World, id: string): Promise<Image | undefined | "unreadable"> =>
  readable(world, instanceKey(world.settings.tenant, id), () => loadInstance(world, id), isDamaged);

/** Takes a step of it, and sends what the step owes; what cannot be done at once is parked. */
export async function takeOrPark(world: World, image: Image, want: Want): Promise<void> {
  const sent = await commitAndSend(world, image, { want, owner: noOwner(world) });
  switch (sent.kind) {
    case "settled":
      return sent.verdict === "release" ? undefined : parkOwed(world, sent.image, want.name);
    case "gone":
      return sent.image && parkOwed(world, sent.image, want.name);
    case "contended":
    case "overtaken":
      world.observe?.({ kind: "outcome-parked", instanceId: image.instance.id });
      return parkWant(world, image.instance, want);
  }
}

/** Lets the caller of a child check what became of it. */
export const parkRecheck = (
  world: World,
  caller: Pick<Instance, "tenant" | "id">,
  ticket: string,
): Promise<void> => parkWant(world, caller, { name: ticket, look: ticket });

/** Parks a message that sends what a step under this name may still owe. */
export async function parkOwed(world: World, { instance }: Image, name: string): Promise<void> {
  if (isNothing(owedBy(instance, name))) return;
  const { tenant, id: instanceId } = instance;
  await world.parking.park({ kind: "owed", tenant, instanceId, name });
}
