import { MAX_ROW_IN_FLIGHT_MS } from "../../definition/limits.ts";
import type { Instant } from "../../definition/time/instant.ts";
import type { Ticket } from "../../kernel/instance.ts";
import { type Image, loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";

/**
 * What has become of a wait that a row or a mailbox names. It may be called gone only by a strong
 * read of an instance that has heard of it: a smaller version, or none, means that the transaction
 * which opens it is still being applied, unless that would have to be an hour old.
 */
export type Life = Readonly<
  | { kind: "waits"; image: Image; ticket: Ticket }
  | { kind: "gone"; image?: Image }
  | { kind: "unsure" }
>;

/** `version` is the one that committed the ticket together with what names it here. */
type Named = Readonly<{ instanceId: string; ticket: string; since: Instant; version: number }>;

export async function lifeOf(
  world: World,
  { instanceId, ticket, since, version }: Named,
): Promise<Life> {
  const image = await loadInstance(world, instanceId);
  if (image === undefined || image.instance.version < version) {
    const isOld = world.clock.now() - since > MAX_ROW_IN_FLIGHT_MS;
    if (!isOld) world.observe?.({ kind: "fenced", instanceId });
    return isOld ? { kind: "gone", ...(image && { image }) } : { kind: "unsure" };
  }
  const open = image.instance.tickets.find(({ id }) => id === ticket);
  return open ? { kind: "waits", image, ticket: open } : { kind: "gone", image };
}
