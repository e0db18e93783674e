/**
 * Erasing: what an ended instance knew goes at once, and a tombstone stays that tells late
 * deliveries that it is over. The tombstone comes first, under the version: from then on no reader
 * sees what is being removed, and a repeated call goes on where the first one died. Where more than
 * the instance itself is to go, the tombstone says that it is unfinished, stays in the lists that a
 * purge reads, and knows by what the instance was found, until all of that is gone.
 */
import { MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import { type Instance, isTerminal } from "../../kernel/instance.ts";
import { demandTaken } from "../calls/awaited.ts";
import { notFound } from "../drive/instance-request.ts";
import { hasKeyRows, removeKeyRows } from "../rows/key-rows.ts";
import { removeLeft } from "../rows/left.ts";
import { commit } from "../step/commit.ts";
import { send } from "../step/dispatch.ts";
import { planWrite } from "../step/plan.ts";
import { defined } from "../storage/defined.ts";
import { mayExternalize } from "../storage/externalized.ts";
import { again, retrying } from "../storage/retrying.ts";
import { blankInstance, type Image, loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { notEnded } from "./instance-calls.ts";

export async function erase(world: World, instanceId: string): Promise<void> {
  const image = await loadInstance(world, instanceId);
  if (image === undefined) throw notFound(instanceId);
  // The tombstone, now or of an earlier call; undefined where the instance is gone altogether.
  const buried = await replaceBy(world, image, async (instance) => {
    if (instance.erased) return undefined;
    if (!isTerminal(instance)) throw notEnded(instance.id);
    // What its end owes may not have left yet, and records stay after they have: once more is safe.
    await send(world, instance, { tickets: [], outbox: instance.outbox });
    await demandTaken(world, instance);
    return tombstoneOf(instance);
  });
  await removeLeft(world, instanceId);
  if (buried?.instance.erased !== "unfinished") return;
  await removeKeyRows(world, buried.instance);
  await replaceBy(world, buried, (instance) => {
    const { businessKey: _key, tags: _tags, ...bare } = instance;
    return instance.erased === "unfinished" ? { ...bare, erased: true } : undefined;
  });
}

/** The instance once it is as `change` wants it; `change` gives nothing where it is so already. */
function replaceBy(
  world: World,
  found: Image,
  change: (instance: Instance) => Instance | undefined | Promise<Instance | undefined>,
): Promise<Image | undefined> {
  let image = found;
  const where = `instance ${found.instance.id}`;
  return retrying(world, { tries: MAX_TRIES_OF_DOOR, where }, async () => {
    const { instance, program } = image;
    const changed = await change(instance);
    if (changed === undefined) return image;
    const outcome = await commit(world, planWrite(world, program, instance, changed), null);
    if (outcome.kind === "committed") return outcome.image;
    if (outcome.kind !== "conflict") return again();
    if (outcome.current === undefined) return undefined;
    image = outcome.current;
    return again();
  });
}

/** Its identity, how it began and ended, by what it was found; nothing of what it knew. */
function tombstoneOf(instance: Instance): Instance {
  const { id, tenant, version, definition, status, startedAt, lastNow, startHash } = instance;
  const { terminationKind, endedAt, trail, businessKey, tags, parent, runAt } = instance;
  const found = defined({ businessKey, tags, parent });
  const hasSpilled = trail.next - trail.entries.length > 1;
  const mayLeaveMore = hasSpilled || mayExternalize(instance) || hasKeyRows(instance);
  return {
    ...blankInstance({ id, tenant, definition, startHash, ...found }, startedAt),
    ...{ version, status, lastNow },
    ...defined({ terminationKind, runAt, endedAt }),
    erased: mayLeaveMore ? "unfinished" : true,
    trail: { next: trail.next, entries: [] },
  };
}
