/**
 * A call was interrupted: its child is cancelled. One that has not begun gets a tombstone, so that a
 * start which is still on its way finds its place taken.
 */
import { MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import { type Instance, isTerminal } from "../../kernel/instance.ts";
import { childIdOf, isChildOf } from "../rows/child.ts";
import { again, retrying } from "../storage/retrying.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { parkOwed, readOther, takeOrPark } from "./other-end.ts";
import { childBusy, putTombstone } from "./tombstone.ts";

/** Nothing that this ticket has begun lives on, and nothing begins by it any more. */
export async function cancelChild(world: World, parent: Instance, ticket: string): Promise<void> {
  const childId = childIdOf(world, parent, ticket);
  const busy = () => childBusy("cancel a child", childId);
  await retrying(world, { tries: MAX_TRIES_OF_DOOR, busy }, async () => {
    const found = await readOther(world, childId);
    // It cannot be ended, and must not keep its siblings from being ended.
    if (found === "unreadable") return;
    if (found) return isChildOf(found.instance, parent, ticket) ? end(world, found) : undefined;
    if (await putTombstone(world, parent, ticket, INTERRUPTED)) return;
    return again();
  });
}

/** What a child's step is called that its parent orders. */
const BY_PARENT = "parent";

async function end(world: World, found: Image): Promise<void> {
  if (isTerminal(found.instance)) return parkOwed(world, found, BY_PARENT);
  const fact = { kind: "cancel-requested", reason: REASON } as const;
  return takeOrPark(world, found, { name: BY_PARENT, fact });
}

const INTERRUPTED = "Its call was interrupted.";
const REASON = "The call that waited for it was interrupted.";
