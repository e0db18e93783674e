/**
 * A call was interrupted: its child is cancelled. One that has not begun gets a tombstone, so that a
 * start which is still on its way finds its place taken.
 */
import { MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import { type Instance, isTerminal } from "../../kernel/instance.ts";
import { childIdOf, isChildOf } from "../rows/child.ts";
import { commit } from "../step/commit.ts";
import { planWrite } from "../step/plan.ts";
import { loadProgram } from "../storage/programs.ts";
import { again, engineBusy, retrying } from "../storage/retrying.ts";
import { blankInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { parkOwed, readOther, takeOrPark } from "./notify-parent.ts";

/** Nothing that this ticket has begun lives on, and nothing begins by it any more. */
export async function cancelChild(world: World, parent: Instance, ticket: string): Promise<void> {
  const childId = childIdOf(world, parent, ticket);
  await retrying(world, { tries: MAX_TRIES_OF_DOOR, where: `instance ${childId}` }, async () => {
    const found = await readOther(world, childId);
    // It cannot be ended, and must not keep its siblings from being ended.
    if (found === "unreadable") return;
    if (found && !isChildOf(found.instance, parent, ticket)) return;
    if (found && isTerminal(found.instance)) return parkOwed(world, found, BY_PARENT);
    if (found) return takeOrPark(world, found, { name: BY_PARENT, fact: CANCEL });
    if (await putTombstone(world, parent, ticket, INTERRUPTED)) return;
    return again();
  });
}

/** The name of a child's step that its parent orders. */
const BY_PARENT = "parent";

const INTERRUPTED = "Its call was interrupted.";
const REASON = "The call that waited for it was interrupted.";
const CANCEL = { kind: "cancel-requested", reason: REASON } as const;

/**
 * Puts the tombstone of a child that never begins: because its call was interrupted before, or
 * because it cannot. It stands where the child would, for as long as any queue may hold a start.
 * False: an instance stands there already.
 */
export async function putTombstone(
  world: World,
  { id: instanceId, tenant, definition, startedAt }: Instance,
  ticket: string,
  why: string,
): Promise<boolean> {
  const program = await loadProgram(world, definition);
  const id = childIdOf(world, { id: instanceId, startedAt }, ticket);
  // As good as nothing, under the definition of its caller; no start has this hash.
  const never = { parent: { instanceId, ticket, depth: 0 }, startHash: `never of ${instanceId}` };
  const absent = blankInstance({ id, tenant, definition, ...never }, world.clock.now());
  const tombstone: Instance = {
    ...absent,
    status: "cancelled",
    terminationKind: "cancel",
    endedAt: absent.lastNow,
    erased: true,
    error: { message: why },
  };
  const outcome = await commit(world, planWrite(world, program, absent, tombstone), null);
  if (outcome.kind === "committed") return true;
  if (outcome.kind === "conflict") return false;
  throw engineBusy(`instance ${id}`);
}
