import type { ChildTicket, Instance, Ticket } from "../../kernel/instance.ts";
import type { World } from "../world.ts";

/**
 * The id of the instance that a ticket begins: the same for whoever begins it, so there is one. A
 * parent's id may be used again long after it has ended, with the same tickets: its start is in it.
 */
export const childIdOf = (
  world: World,
  { id, startedAt }: Pick<Instance, "id" | "startedAt">,
  ticket: string,
): string => world.ids.digest(`child\n${id}\n${startedAt}\n${ticket}`);

export const isChild = (ticket: Ticket): ticket is ChildTicket => ticket.on === "child";

/** Says whether this instance was begun by that ticket. */
export const isChildOf = ({ parent }: Instance, { id }: Instance, ticket: string): boolean =>
  parent?.instanceId === id && parent.ticket === ticket;

/** Says whether somebody waits for the end of this instance, as far as it knows. */
export const isAwaited = ({ parent }: Instance): boolean =>
  parent !== undefined && !parent.detached;

/** Says whether it is a tombstone of one that never began. */
export const neverBegan = ({ erased, trail }: Instance): boolean =>
  erased === true && trail.next === 1;
