/**
 * Starts the child of a call.
 *
 * 1. The child's id comes from the ticket, and so do all inputs of its first decision: it does not
 *    matter what begins it, nor how often that is tried.
 * 2. What the start owes leaves before it, with the start inside, as for every start.
 * 3. A child that cannot start gets its tombstone before its call learns of it: no later try may start
 *    what the call has given up.
 */

import { MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import { type ChildTicket, type Instance, isTerminal } from "../../kernel/instance.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { CarriedStart } from "../../ports/message.ts";
import type { Item } from "../../ports/store.ts";
import { checkPlainStart, commitStart, planCreation } from "../drive/creation.ts";
import { childIdOf, isChildOf } from "../rows/child.ts";
import type { Plan } from "../step/plan.ts";
import { defined } from "../storage/defined.ts";
import { scanAll } from "../storage/items.ts";
import { definitionPk, VERSIONS, versionOf } from "../storage/keys.ts";
import { readVersion, type Startable, startable } from "../storage/latest.ts";
import { loadProgram } from "../storage/programs.ts";
import { again, engineBusy, retrying } from "../storage/retrying.ts";
import { isDamaged, readableOf } from "../storage/unreadable.ts";
import { parseVersion, type VersionRecord } from "../storage/version-record.ts";
import type { World } from "../world.ts";
import { putTombstone } from "./cancel-child.ts";
import { parkRecheck, readOther } from "./notify-parent.ts";

/** Makes sure that the child exists, or that its call learns of its end; false: nothing to do. */
export async function startChild(
  world: World,
  parent: Instance,
  ticket: ChildTicket,
): Promise<boolean> {
  const childId = childIdOf(world, parent, ticket.id);
  const where = `instance ${childId}`;
  return retrying(world, { tries: MAX_TRIES_OF_DOOR, where }, async () => {
    const found = await readOther(world, childId);
    // It has begun; what has become of it cannot be known.
    if (found === "unreadable") return false;
    if (found) {
      // While an awaited child lives there is nothing to tell.
      const { instance } = found;
      const lives = isChildOf(instance, parent, ticket.id) && !isTerminal(instance);
      if (lives && !ticket.detached) return false;
    } else {
      const planned = await planOf(world, parent, ticket, childId);
      if (typeof planned === "string") {
        if (!(await putTombstone(world, parent, ticket.id, planned))) return again();
      } else {
        if (planned.plan === undefined) throw engineBusy(where);
        const outcome = await commitStart(world, planned.plan, planned.start);
        if (outcome.kind !== "committed") return again(outcome);
        if (!ticket.detached) return true;
      }
    }
    await parkRecheck(world, parent, ticket.id);
    return true;
  });
}

/** The start, or why there cannot be one. */
async function planOf(
  world: World,
  parent: Instance,
  ticket: ChildTicket,
  childId: string,
): Promise<Readonly<{ start: CarriedStart; plan: Plan | undefined }> | string> {
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
    parent: { instanceId: parent.id, ticket: id, depth, ...defined({ catches, detached }) },
  };
}

/** The version that the call is bound to; throws where there is none that it could begin. */
async function calledBy(
  world: World,
  parent: Instance,
  { process, binding }: ChildTicket,
): Promise<Startable> {
  const { definition: latest, ...spread } = await startable(world, process, undefined);
  const wanted = binding && (await wantedBy(world, parent, binding));
  const definition = wanted ? await newestThat(world, process, wanted) : latest;
  await checkPlainStart(world, definition);
  return { definition, ...spread };
}

type Wanted = Readonly<{ is: (record: VersionRecord) => boolean; words: string }>;

async function wantedBy(
  world: World,
  { definition }: Instance,
  binding: NonNullable<ChildTicket["binding"]>,
): Promise<Wanted> {
  if (binding !== "deployment") {
    const { tag } = binding;
    return { is: (record) => record.tag === tag, words: `with the version tag "${tag}"` };
  }
  const { sourceHash } = await readVersion(world, definition.id, definition.version);
  const words = `that was deployed together with version ${definition.version} of "${definition.id}"`;
  return { is: (record) => record.sourceHash === sourceHash, words };
}

/** The newest comes first: mostly it is the one. */
async function newestThat(
  world: World,
  id: string,
  { is, words }: Wanted,
): Promise<Startable["definition"]> {
  const pk = definitionPk(world.settings.tenant, id);
  const range = { ...VERSIONS, limit: VERSIONS_AT_ONCE, backwards: true } as const;
  const parse = ({ key, body }: Item) => ({ ...parseVersion(body), version: versionOf(key) });
  for await (const item of scanAll(world.store, pk, range)) {
    const found = readableOf(world, [item], parse, isDamaged).find(is);
    if (found) return { id, version: found.version, hash: found.hash };
  }
  throw new EngineError("definition/not-found", {
    happened: `There is no version of the definition ${words}`,
    where: `definition ${id}`,
    fix: "Deploy one, or bind the call to another version.",
  });
}

const VERSIONS_AT_ONCE = 25;
