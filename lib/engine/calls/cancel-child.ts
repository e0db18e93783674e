/**
 * A call was interrupted: its child is cancelled. One that has not begun gets a tombstone, so that a
 * start which is still on its way finds its place taken.
 */
import { MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import { type Instance, isTerminal } from "../../kernel/instance.ts";
import { EngineError } from "../../ports/engine-error.ts";
import { childIdOf, isChildOf } from "../rows/child.ts";
import { commitWithRetry } from "../step/commit-with-retry.ts";
import { afterCommit } from "../step/dispatch.ts";
import { dropSentRecords } from "../step/redelivery.ts";
import { instanceKey } from "../storage/keys.ts";
import { type Image, loadInstance } from "../storage/stored-instance.ts";
import { isDamaged, readable } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { parkOwed } from "./notify-parent.ts";
import { putTombstone } from "./tombstone.ts";

/** Nothing that this ticket has begun lives on, and nothing begins by it any more. */
export async function cancelChild(world: World, parent: Instance, ticket: string): Promise<void> {
  const childId = childIdOf(world, parent, ticket);
  for (let tries = 0; tries < MAX_TRIES_OF_DOOR; tries++) {
    const key = instanceKey(world.settings.tenant, childId);
    const found = await readable(world, key, () => loadInstance(world, childId), isDamaged);
    // It cannot be ended, and must not keep its siblings from being ended.
    if (found === "unreadable") return;
    if (found) return isChildOf(found.instance, parent, ticket) ? end(world, found) : undefined;
    if (await putTombstone(world, parent, ticket, INTERRUPTED)) return;
    await world.clock.pause(2 + tries);
  }
  throw busy(childId);
}

/** What a child's step is called that its parent orders. */
const BY_PARENT = "parent";

async function end(world: World, found: Image): Promise<void> {
  const { tenant, id: instanceId } = found.instance;
  if (isTerminal(found.instance)) return parkOwed(world, found, BY_PARENT);
  const fact = { kind: "cancel-requested", reason: REASON } as const;
  const owner = { own: null, until: world.clock.now() };
  const settled = await commitWithRetry(world, found, { name: BY_PARENT, fact }, owner);
  switch (settled.kind) {
    case "settled": {
      const sent = await afterCommit(world, settled.plan);
      const verdict = await dropSentRecords(world, settled.image, sent, null);
      return verdict === "release" ? undefined : parkOwed(world, settled.image, BY_PARENT);
    }
    case "gone":
      return settled.image && parkOwed(world, settled.image, BY_PARENT);
    case "contended":
    case "overtaken":
      return world.parking.park({ kind: "parked", tenant, instanceId, name: BY_PARENT, fact });
  }
}

const INTERRUPTED = "Its call was interrupted.";
const REASON = "The call that waited for it was interrupted.";

const busy = (childId: string): EngineError =>
  new EngineError("engine/busy", {
    happened: "The store is too busy to cancel a child",
    where: `instance ${childId}`,
    fix: "Nothing is lost: it is tried again.",
    retryable: true,
  });
