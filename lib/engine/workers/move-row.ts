/**
 * Taking a row: another row is put, and then the old one is removed. The poll that removed
 * it has the task; one that was too late removes its own row again. The new row comes first: a poll
 * that dies in between leaves a task that is offered twice, and never one that is not offered.
 */
import { MAX_TRIES_OF_PARKED } from "../../definition/limits.ts";
import type { Item, Key } from "../../ports/store.ts";
import { Again, again, tryRepeatedly } from "../storage/retrying.ts";
import type { World } from "../world.ts";

/** `in-doubt`: it is not known whether it was taken. The new row stays, and is over in time. */
export type Moved = "taken" | "lost" | "busy" | "in-doubt";

export async function moveRow(world: World, old: Item, put: Item): Promise<Moved> {
  if (!(await putNew(world, put))) return "busy";
  const removed = await removeRow(world, old);
  if (removed === "lost" || removed === "busy") await world.store.tidy([put.key]);
  return removed;
}

/** Whether the new row is there for certain; one that may come late is over in time. */
async function putNew(world: World, put: Item): Promise<boolean> {
  const outcome = await world.store.commit([{ put, when: "absent" }]);
  if (outcome.kind !== "unknown") return outcome.kind === "committed";
  return (await readRow(world, put.key)) !== undefined;
}

async function removeRow(world: World, { key, version }: Item): Promise<Moved> {
  const moved = await tryRepeatedly(world, { tries: MAX_TRIES_OF_PARKED }, async () => {
    const outcome = await world.store.commit([{ remove: key, when: { version } }]);
    if (outcome.kind === "committed") return "taken";
    if (outcome.kind === "conflict") return "lost";
    if (outcome.kind === "busy") return again(outcome);
    return (await readRow(world, key))?.version === version ? again() : "in-doubt";
  });
  return moved instanceof Again ? "busy" : moved;
}

async function readRow(world: World, key: Key): Promise<Item | undefined> {
  const [row] = await world.store.get([key]);
  return row;
}
