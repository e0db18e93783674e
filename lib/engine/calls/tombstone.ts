/**
 * A child that never begins: because its call was interrupted before, or because it cannot. The
 * tombstone stands where the child would, so that a start which is still on its way finds the place
 * taken, for as long as any queue may hold one.
 */
import type { Instance } from "../../kernel/instance.ts";
import { childIdOf } from "../rows/child.ts";
import { commit } from "../step/commit.ts";
import { planWrite } from "../step/plan.ts";
import { blankInstance } from "../storage/blank-instance.ts";
import { loadProgram } from "../storage/programs.ts";
import { type Busy, engineBusy } from "../storage/retrying.ts";
import type { World } from "../world.ts";

/** Puts one for the child of a ticket; false when an instance stands there already. */
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
  throw engineBusy(childBusy("say that a child does not begin", id));
}

export const childBusy = (what: string, childId: string): Busy => ({
  happened: `The store is too busy to ${what}`,
  where: `instance ${childId}`,
  fix: "Nothing is lost: it is tried again.",
});
