// What is left of an erased instance when everything rests: its tombstone.
import { instanceOrder } from "../../../lib/engine/storage/keys.ts";
import { EngineError } from "../../../lib/ports/engine-error.ts";
import type { Item } from "../../../lib/ports/store.ts";
import { TENANT } from "../world/stage.ts";
import type { SimulatedWorld } from "../world/world.ts";
import { isLeft, namesLeft } from "./left-beside.ts";
import { must } from "./violation.ts";

/**
 * Nothing points to it, and none of its data is left. There is one exception: an actor that stalled
 * with a value or a chunk of history, wrote it after the erasure, and crashed before its commit was
 * refused. Then erasing once more removes it.
 */
export async function checkErased(world: SimulatedWorld, id: string): Promise<void> {
  const { engine } = world.observer();
  for (const ask of [() => engine.get(id), () => engine.history(id, { limit: 1 })]) {
    must((await codeOf(ask)) === "instance/not-found", () => `${id} is erased and can be read`);
  }
  await checkHalfErased(world, id);
  for (const name of namesLeft(world.backends, id)) {
    const writer = world.stage.leftBy.get(name);
    must(
      !world.hasFewFaults && (writer === undefined || writer.state === "dead"),
      () => `${id} is erased, and ${writer?.what ?? "nobody"} has left ${name}`,
    );
  }
  if (!world.hasFewFaults) await engine.erase(id);
  const left = leftOf(world, id);
  must(left.length === 0, () => `${id} is erased, and there is ${left.join(", ")}`);
}

/** A half erased instance is found by the next purge: no other caller may know it any more. */
async function checkHalfErased(world: SimulatedWorld, id: string): Promise<void> {
  if (world.stage.invariants.lives.get(id)?.instance.erased !== "unfinished") return;
  const { items } = await world.observer().engine.purge({ dryRun: true });
  must(
    items.some(({ instanceId }) => instanceId === id),
    () => `${id} is half erased, and no purge finds it`,
  );
}

function leftOf({ backends, stage, hasFewFaults }: SimulatedWorld, id: string): readonly string[] {
  const life = stage.invariants.lives.get(id);
  const order = life && instanceOrder(life.instance);
  // After several faults an actor may have crashed that wrote them for a start: those are removed
  // as found.ts says. Expiry does not bring back one that is gone.
  const isRow = ({ key: { pk, sk }, expiresAt }: Item) =>
    isFoundBy(pk) && sk === order && (hasFewFaults || expiresAt !== undefined);
  const beside = backends.store
    .items()
    .filter((item) => isLeft(item.key, id) || isRow(item))
    .map(({ key }) => key);
  const blobs = [...backends.blobs.names().keys()].filter((name) => name.includes(`/${id}/`));
  return [...beside.map(({ sk }) => sk), ...blobs];
}

/** Rows of business keys and tags. */
const isFoundBy = (pk: string): boolean => pk.startsWith(`${TENANT}#K#`);

async function codeOf(ask: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await ask();
  } catch (error) {
    return error instanceof EngineError ? error.code : String(error);
  }
  return undefined;
}
