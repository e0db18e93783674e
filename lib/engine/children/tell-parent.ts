/**
 * A call is told what became of its child, by being made to look. What it takes it reads from the
 * child itself, so nothing large travels through queues, and a look too many finds nothing.
 *
 * 1. Whoever ends a child takes the step on the parent, where nobody is in the way; else the look
 *    is parked, and many are taken together.
 * 2. Everything that this step opens is owed by the ticket. Who comes again after a crash finds the
 *    ticket gone, and lets somebody look after what it owes.
 */
import { MAX_OPEN_TASKS_BEFORE_PARKING } from "../../definition/limits.ts";
import type { Instance } from "../../kernel/instance.ts";
import { afterCommit } from "../dispatch.ts";
import { isNothing, openWork, owedBy } from "../owed.ts";
import { dropSentRecords } from "../redelivery.ts";
import { settle } from "../settle.ts";
import { type Image, loadInstance } from "../stored-instance.ts";
import type { World } from "../world.ts";

/** An awaited child has ended: whoever called it goes on. */
export async function tellParent(world: World, { parent }: Instance): Promise<void> {
  if (parent === undefined) return;
  const { instanceId, ticket } = parent;
  const image = await loadInstance(world, instanceId);
  if (image === undefined) return;
  const { instance } = image;
  if (!instance.tickets.some(({ id }) => id === ticket)) return parkOwed(world, image, ticket);
  if (openWork(world, instance) > MAX_OPEN_TASKS_BEFORE_PARKING) {
    return parkLook(world, instance, ticket);
  }
  const owner = { own: null, until: world.clock.now() };
  const settled = await settle(world, image, { name: ticket, look: ticket }, owner);
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
      return parkLook(world, instance, ticket);
  }
}

/** Lets the parent look at what it has called. */
export function parkLook(
  world: World,
  { tenant, id: instanceId }: Instance,
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
