/**
 * Begins what a call has opened a ticket for.
 *
 * 1. The child's id comes from the ticket, and so do all inputs of its first decision: it does not
 *    matter what begins it, nor how often that is tried.
 * 2. What the start owes leaves before it, with the start inside, as for every start.
 * 3. What cannot begin gets its tombstone first, and only then its call learns of it: no later try may
 *    begin after all what the call has given up.
 */
import { MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import { type ChildTicket, type Instance, isTerminal } from "../../kernel/instance.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { CarriedStart } from "../../ports/message.ts";
import { commitStart, planCreation } from "../drive/creation.ts";
import { childIdOf, isChildOf } from "../rows/child.ts";
import type { Plan } from "../step/plan.ts";
import { loadProgram } from "../storage/programs.ts";
import { again, engineBusy, retrying } from "../storage/retrying.ts";
import type { World } from "../world.ts";
import { calledBy } from "./called.ts";
import { parkRecheck, readOther } from "./other-end.ts";
import { childBusy, putTombstone } from "./tombstone.ts";

/** Makes sure that the child is there, or that its call learns what became of it; says whether it did anything. */
export async function startChild(
  world: World,
  parent: Instance,
  ticket: ChildTicket,
): Promise<boolean> {
  const childId = childIdOf(world, parent, ticket.id);
  const busy = () => childBusy("begin a child", childId);
  return retrying(world, { tries: MAX_TRIES_OF_DOOR, busy }, async () => {
    const found = await readOther(world, childId);
    // It has begun; what has become of it cannot be known.
    if (found === "unreadable") return false;
    if (found) {
      // While an awaited child lives there is nothing to tell.
      const { instance } = found;
      const lives = isChildOf(instance, parent, ticket.id) && !isTerminal(instance);
      if (lives && !ticket.detached) return false;
      await parkRecheck(world, parent, ticket.id);
      return true;
    }
    const planned = await planOf(world, parent, ticket, childId);
    if (typeof planned === "string") {
      if (!(await putTombstone(world, parent, ticket.id, planned))) return again();
      await parkRecheck(world, parent, ticket.id);
      return true;
    }
    if (planned.plan === undefined) throw engineBusy(busy());
    const outcome = await commitStart(world, planned.plan, planned.start);
    if (outcome.kind !== "committed") return again(outcome);
    if (ticket.detached) await parkRecheck(world, parent, ticket.id);
    return true;
  });
}

type Planned = Readonly<{ start: CarriedStart; plan: Plan | undefined }>;

/** The start, or why there cannot be one. */
async function planOf(
  world: World,
  parent: Instance,
  ticket: ChildTicket,
  childId: string,
): Promise<Planned | string> {
  try {
    const start = await startOf(world, parent, ticket);
    return { start, plan: await planCreation(world, childId, start) };
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
