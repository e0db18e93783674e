/**
 * Begins what a call has opened a ticket for.
 *
 * 1. The child's id comes from the ticket, and so do all inputs of its first decision: it does not
 *    matter who begins it, nor how often that is tried.
 * 2. What the start owes leaves before it, with the start inside, as for every start.
 * 3. What cannot begin gets its tombstone first, and only then the call is told: no later try may
 *    begin after all what the call has given up.
 */
import { MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import { type ChildTicket, type Instance, isTerminal } from "../../kernel/instance.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { CarriedStart } from "../../ports/message.ts";
import { planCreation } from "../drive/creation.ts";
import { commitStart } from "../instances/start.ts";
import { childIdOf, isChildOf } from "../rows/child.ts";
import type { Plan } from "../step/plan.ts";
import { instanceKey } from "../storage/keys.ts";
import { loadProgram } from "../storage/programs.ts";
import { loadInstance } from "../storage/stored-instance.ts";
import { isDamaged, readable } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { calledBy } from "./called.ts";
import { parkRecheck } from "./notify-parent.ts";
import { putTombstone } from "./tombstone.ts";

/** Sees to it that the child is there, or that its call learns what became of it; says whether it did anything. */
export async function startChild(
  world: World,
  parent: Instance,
  ticket: ChildTicket,
): Promise<boolean> {
  const childId = childIdOf(world, parent, ticket.id);
  for (let tries = 0; tries < MAX_TRIES_OF_DOOR; tries++) {
    const key = instanceKey(world.settings.tenant, childId);
    const found = await readable(world, key, () => loadInstance(world, childId), isDamaged);
    // It has begun; what has become of it nobody can tell.
    if (found === "unreadable") return false;
    if (found) return tellIfOver(world, parent, ticket, found.instance);
    const planned = await planOf(world, parent, ticket, childId);
    if (typeof planned === "string") {
      if (!(await putTombstone(world, parent, ticket.id, planned))) continue;
      await parkRecheck(world, parent, ticket.id);
      return true;
    }
    const outcome = await commitStart(world, planned.plan, planned.start);
    if (outcome.kind === "committed") {
      if (ticket.detached) await parkRecheck(world, parent, ticket.id);
      return true;
    }
    await world.clock.pause(outcome.kind === "busy" ? outcome.retryAfterMs : 2 + tries);
  }
  throw busy(childId);
}

/** Whoever it is that stands there: while an awaited child lives there is nothing to tell. */
async function tellIfOver(
  world: World,
  parent: Instance,
  { id, detached }: ChildTicket,
  found: Instance,
): Promise<boolean> {
  if (!detached && isChildOf(found, parent, id) && !isTerminal(found)) return false;
  await parkRecheck(world, parent, id);
  return true;
}

type Planned = Readonly<{ start: CarriedStart; plan: Plan }>;

/** The start, or why there cannot be one. */
async function planOf(
  world: World,
  parent: Instance,
  ticket: ChildTicket,
  childId: string,
): Promise<Planned | string> {
  try {
    const start = await startOf(world, parent, ticket);
    const plan = await planCreation(world, childId, start);
    if (plan === undefined) throw busy(childId);
    return { start, plan };
  } catch (cause) {
    if (!(cause instanceof EngineError) || cause.retryable) throw cause;
    return cause.message;
  }
}

async function startOf(world: World, parent: Instance, ticket: ChildTicket): Promise<CarriedStart> {
  const { id, since, catches, detached } = ticket;
  const { runner } = await loadProgram(world, parent.definition);
  const depth = detached ? 0 : (parent.parent?.depth ?? 0) + 1;
  return {
    ...(await calledBy(world, parent, ticket)),
    now: since,
    request: world.ids.digest(`child of\n${parent.id}\n${id}`),
    fact: { kind: "started", input: { variables: runner.callInput(parent, ticket) } },
    parent: {
      instanceId: parent.id,
      ticket: id,
      depth,
      ...(catches && { catches }),
      ...(detached && { detached }),
    },
  };
}

const busy = (childId: string): EngineError =>
  new EngineError("engine/busy", {
    happened: "The store is too busy to begin a child",
    where: `instance ${childId}`,
    fix: "Nothing is lost: it is tried again.",
    retryable: true,
  });
