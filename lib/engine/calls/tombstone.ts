/**
 * A child that never begins: because its call was interrupted before, or because it cannot. The
 * tombstone stands where the child would, so that a start which is still on its way finds the place
 * taken, for as long as any queue may hold one.
 */
import type { Instance } from "../../kernel/instance.ts";
import { EngineError } from "../../ports/engine-error.ts";
import { childIdOf } from "../rows/child.ts";
import { commit } from "../step/commit.ts";
import { planWrite } from "../step/plan.ts";
import { blankInstance } from "../storage/blank-instance.ts";
import { loadProgram } from "../storage/programs.ts";
import type { World } from "../world.ts";

/** Puts one for the child of a ticket; false when somebody stands there already. */
export async function putTombstone(
  world: World,
  parent: Instance,
  ticket: string,
  why: string,
): Promise<boolean> {
  const program = await loadProgram(world, parent.definition);
  const childId = childIdOf(world, parent, ticket);
  const absent = blankOf(world, parent, childId, ticket);
  const buried = { ...absent, status: "cancelled", terminationKind: "cancel" } as const;
  const tombstone = { ...buried, endedAt: absent.lastNow, erased: true, error: { message: why } };
  const outcome = await commit(
    world,
    planWrite(world, program, absent, tombstone as Instance),
    null,
  );
  if (outcome.kind === "committed") return true;
  if (outcome.kind === "conflict") return false;
  throw busy(childId);
}

/** What the place of a child holds who never was: as good as nothing, under its caller's definition. */
function blankOf(
  world: World,
  { id, tenant, definition }: Instance,
  childId: string,
  ticket: string,
): Instance {
  const parent = { instanceId: id, ticket, depth: 0 };
  const startHash = `never of ${id}`; // no start has this one
  return blankInstance({ id: childId, tenant, definition, parent, startHash }, world.clock.now());
}

const busy = (childId: string): EngineError =>
  new EngineError("engine/busy", {
    happened: "The store is too busy to say that a child does not begin",
    where: `instance ${childId}`,
    fix: "Nothing is lost: it is tried again.",
    retryable: true,
  });
