import type { ChildFact } from "../../kernel/fact.ts";
import { type ChildTicket, type Instance, isTerminal, type Ticket } from "../../kernel/instance.ts";
import { instanceKey } from "../storage/keys.ts";
import { loadInstance } from "../storage/stored-instance.ts";
import { isDamaged, readable } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

/**
 * The id of the instance that a ticket begins: every caller makes the same, so there is one. A
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

/** Says whether a parent waits for the end of this instance, as far as it knows. */
export const isAwaited = ({ parent }: Instance): boolean =>
  parent !== undefined && !parent.detached;

/** Says whether it is a tombstone of one that never began. */
export const neverBegan = ({ erased, trail }: Instance): boolean =>
  erased === true && trail.next === 1;

/**
 * What a call finds that looks at its child; undefined while there is nothing to take. A child that
 * was damaged gives nothing, and keeps its caller from none of the others.
 */
export async function factOfChild(
  world: World,
  instance: Instance,
  ticket: ChildTicket,
): Promise<ChildFact | undefined> {
  const childId = childIdOf(world, instance, ticket.id);
  const key = instanceKey(world.settings.tenant, childId);
  const found = await readable(world, key, () => loadInstance(world, childId), isDamaged);
  if (found === undefined || found === "unreadable") return undefined;
  const refused = { kind: "child-refused", ticket: ticket.id } as const;
  const { instance: child, program } = found;
  if (neverBegan(child)) return { ...refused, message: child.error?.message ?? NEVER };
  if (!isChildOf(child, instance, ticket.id)) return { ...refused, message: taken(childId) };
  if (ticket.detached) return { kind: "child-started", ticket: ticket.id, childId };
  const { status, terminationKind, error } = child;
  if (status === "live" || terminationKind === undefined || !isTerminal(child)) return undefined;
  return {
    kind: "child-ended",
    ticket: ticket.id,
    childId,
    status,
    terminationKind,
    ...(status === "succeeded" && { result: program.runner.result(child) }),
    ...(error && { error }),
  };
}

const NEVER = "The child was never begun.";

const taken = (childId: string): string =>
  `Another instance has the id ${childId} that the child would have had. Resolve this to call again.`;
