/** The instance at the other end of a call: reading it, and taking a step of it. */
import type { Instance } from "../../kernel/instance.ts";
import { commitAndSend } from "../step/commit-and-send.ts";
import { isNothing, owedBy } from "../step/owed.ts";
import { parkWant } from "../step/park.ts";
import { noOwner, type Want } from "../step/take.ts";
import { instanceKey } from "../storage/keys.ts";
import { type Image, loadInstance } from "../storage/stored-instance.ts";
import { isDamaged, readable } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

/** What is stored under this id; one that is damaged holds up nothing else. */
export const readOther = (world: World, id: string): Promise<Image | undefined | "unreadable"> =>
  readable(world, instanceKey(world.settings.tenant, id), () => loadInstance(world, id), isDamaged);

/** Takes a step there, and sends what it owes; what cannot be done at once is parked. */
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

/** Has what a step under this name may have left behind sent. */
export async function parkOwed(world: World, { instance }: Image, name: string): Promise<void> {
  if (isNothing(owedBy(instance, name))) return;
  const { tenant, id: instanceId } = instance;
  await world.parking.park({ kind: "owed", tenant, instanceId, name });
}
