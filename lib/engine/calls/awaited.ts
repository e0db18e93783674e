/** What may not be done to an instance while a call waits for it. */
import { findTicket, parseItemName } from "../../kernel/batch.ts";
import { holdsFailedItems, MEMBERS } from "../../kernel/failed-items.ts";
import { type Instance, isTerminal, type Ticket } from "../../kernel/instance.ts";
import { EngineError } from "../../ports/engine-error.ts";
import { isAwaited } from "../rows/child.ts";
import { loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";

/** Refuses to end an instance that a call waits for: it ends with the call. */
export async function demandNotAwaited(world: World, child: Instance): Promise<void> {
  if (isTerminal(child) || !(await isStillAwaited(world, child))) return;
  const { id: instanceId, parent } = child;
  throw new EngineError("instance/awaited", {
    happened: `The instance ${parent?.instanceId} waits for the end of this one, which it has called`,
    where: `instance ${instanceId}`,
    fix: `Cancel instance ${parent?.instanceId}, which ends this one as well, or let an event on the border of its call end it.`,
  });
}

/** What an ended child knew is kept until its parent has taken it. */
export async function demandTaken(world: World, child: Instance): Promise<void> {
  if (!(await isStillAwaited(world, child))) return;
  throw new EngineError("engine/busy", {
    happened: `The instance ${child.parent?.instanceId}, which has called this one, has not taken its result yet`,
    where: `instance ${child.id}`,
    fix: "Send the request again in a second; if this repeats, look at the incidents of the caller.",
  });
}

async function isStillAwaited(world: World, child: Instance): Promise<boolean> {
  const { parent } = child;
  if (parent === undefined || !isAwaited(child)) return false;
  const caller = await loadInstance(world, parent.instanceId);
  if (caller === undefined) return false;
  const { tickets } = caller.instance;
  return findTicket(tickets, parent.ticket) !== undefined || isKept(tickets, parent.ticket);
}

/**
 * An incident that could not take the child's end in keeps the call, or stands for items of a batch
 * that are opened again: they are checked again when it is resolved.
 */
function isKept(tickets: readonly Ticket[], call: string): boolean {
  const named = parseItemName(call);
  return tickets.some((open) => {
    if (open.on !== "incident") return false;
    if (named === undefined || !holdsFailedItems(open)) return open.kept?.ticket?.id === call;
    const { family, numbers } = open.members;
    return open.phase === MEMBERS && family === named.batch && numbers.includes(named.member);
  });
}
