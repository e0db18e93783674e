/**
 * Erasing: what an ended instance knew goes at once, and a tombstone stays that tells late
 * deliveries that it is over. The tombstone comes first, under the version: from then on nobody
 * reads what is being removed, and whoever repeats the call goes on where the first one died.
 */
import { MAX_CALL_MS, MAX_TRIES_OF_DOOR } from "../definition/limits.ts";
import { type Instance, isTerminal } from "../kernel/instance.ts";
import { EngineError } from "../ports/engine-error.ts";
import type { Key } from "../ports/store.ts";
import { commit } from "./commit.ts";
import { notFound } from "./door.ts";
import { notEnded } from "./instance-calls.ts";
import { instancePk, LEFT } from "./keys.ts";
import { planWrite } from "./plan.ts";
import { type Image, loadInstance } from "./stored-instance.ts";
import { removeBlobOf } from "./values.ts";
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
    if (mayStillSend(world, instance)) throw stillSending(instance.id);
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
  const { terminationKind, endedAt, trail } = instance;
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

/** What its end owes may not have left yet; records stay in an ended instance after they have. */
function mayStillSend(world: World, { outbox, endedAt, lastNow }: Instance): boolean {
  return outbox.length > 0 && world.clock.now() - (endedAt ?? lastNow) < MAX_CALL_MS;
}

/** Blobs before the items that name them: who dies in between finds them again. */
async function removeLeft(world: World, instanceId: string): Promise<void> {
  const pk = instancePk(world.settings.tenant, instanceId);
  for (;;) {
    const { items } = await world.store.scan(pk, { ...LEFT, limit: 100 });
    if (items.length === 0) return;
    for (const item of items) {
      await removeBlobOf(world, instanceId, item);
      await remove(world, item.key);
    }
  }
}

/** For certain, where tidying would be a best effort; what is gone already is a conflict. */
async function remove(world: World, key: Key): Promise<void> {
  const outcome = await world.store.commit([{ remove: key, when: "exists" }]);
  if (outcome.kind === "busy") await world.clock.pause(outcome.retryAfterMs);
}

function stillSending(instanceId: string): EngineError {
  return new EngineError("instance/still-sending", {
    happened: "The instance has ended, and what its end owes may be on its way still",
    where: `instance ${instanceId}`,
    fix: `Erase it ${MAX_CALL_MS / 60_000} minutes after its end.`,
    retryable: true,
  });
}

function busy(instanceId: string): EngineError {
  return new EngineError("engine/busy", {
    happened: "The instance is too busy to be erased now",
    where: `instance ${instanceId}`,
    fix: "Send the request again in a second.",
    retryable: true,
  });
}
