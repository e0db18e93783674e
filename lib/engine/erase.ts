/**
 * Erasing: what an ended instance knew goes at once, and a tombstone stays that tells late
 * deliveries that it is over. The tombstone comes first, under the version: from then on nobody
 * reads what is being removed, and whoever repeats the call goes on where the first one died.
 */
import { MAX_TRIES_OF_DOOR } from "../definition/limits.ts";
import { type Instance, isTerminal } from "../kernel/instance.ts";
import { EngineError } from "../ports/engine-error.ts";
import { demandTaken } from "./children/awaited.ts";
import { commit } from "./commit.ts";
import { send } from "./dispatch.ts";
import { notFound } from "./door.ts";
import { notEnded } from "./instance-calls.ts";
import { planWrite } from "./plan.ts";
import { removeLeft } from "./remove-left.ts";
import { type Image, loadInstance } from "./stored-instance.ts";
import type { World } from "./world.ts";

export async function erase(world: World, instanceId: string): Promise<void> {
  const image = await loadInstance(world, instanceId);
  if (image === undefined) throw notFound(instanceId);
  await bury(world, image);
  await removeLeft(world, instanceId);
}

async function bury(world: World, found: Image): Promise<void> {
  let image = found;
  for (let tries = 0; tries < MAX_TRIES_OF_DOOR; tries++) {
    const { instance, program } = image;
    if (instance.erased) return;
    if (!isTerminal(instance)) throw notEnded(instance.id);
    // What its end owes may not have left yet, and records stay after they have: once more is safe.
    await send(world, instance, { tickets: [], outbox: instance.outbox });
    await demandTaken(world, instance);
    const outcome = await commit(
      world,
      planWrite(world, program, instance, tombstoneOf(instance)),
      null,
    );
    if (outcome.kind === "committed") return;
    if (outcome.kind === "conflict" && outcome.current === undefined) return;
    if (outcome.kind === "conflict" && outcome.current) image = outcome.current;
    await world.clock.pause(2 + tries);
  }
  throw busy(found.instance.id);
}

/** Who it was, how it began and ended; nothing of what it knew. */
function tombstoneOf(instance: Instance): Instance {
  const { id, tenant, version, definition, status, startedAt, lastNow, startHash } = instance;
  const { terminationKind, endedAt, trail, parent } = instance;
  return {
    id,
    tenant,
    version,
    definition,
    status,
    ...(terminationKind && { terminationKind }),
    startedAt,
    lastNow,
    ...(endedAt !== undefined && { endedAt }),
    ...(parent && { parent }),
    erased: true,
    state: null,
    tickets: [],
    outbox: [],
    minted: 0,
    completed: [],
    trail: { next: trail.next, entries: [] },
    startHash,
    ring: [],
    inbox: [],
    sentEvents: [],
    seenEvents: {},
  };
}

function busy(instanceId: string): EngineError {
  return new EngineError("engine/busy", {
    happened: "The instance is too busy to be erased now",
    where: `instance ${instanceId}`,
    fix: "Send the request again in a second.",
    retryable: true,
  });
}
