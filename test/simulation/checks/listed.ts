// Lists when everything rests: each instance is listed by its definition and among all, once, and the
// newest comes first.

import { instanceOrder } from "../../../lib/engine/storage/keys.ts";
import type { Instance } from "../../../lib/kernel/instance.ts";
import type { InstanceFilter } from "../../../lib/shapes/instances.ts";
import type { SimulatedWorld } from "../world/world.ts";
import { must } from "./violation.ts";

export async function checkListed(world: SimulatedWorld): Promise<void> {
  const lives = [...world.stage.invariants.lives.values()].map(({ instance }) => instance);
  const kept = lives.filter(({ erased }) => !erased);
  await checkOne(world, {}, kept);
  for (const definition of new Set(kept.map((instance) => instance.definition.id))) {
    const wanted = kept.filter((instance) => instance.definition.id === definition);
    await checkOne(world, { definition }, wanted);
  }
}

async function checkOne(
  world: SimulatedWorld,
  filter: InstanceFilter,
  kept: readonly Instance[],
): Promise<void> {
  const byOrder = kept.toSorted((a, b) => (instanceOrder(a) < instanceOrder(b) ? 1 : -1));
  const wanted = byOrder.map(({ id }) => id).join(", ");
  const listed = (await allOf(world, filter)).join(", ");
  must(listed === wanted, () => `by ${JSON.stringify(filter)} ${listed} are listed, not ${wanted}`);
}

/** Small pages: a cursor has to work at every position where a page can end. */
async function allOf(world: SimulatedWorld, filter: InstanceFilter): Promise<readonly string[]> {
  const { engine } = world.observer();
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await engine.list(filter, { limit: 3, ...(cursor !== undefined && { cursor }) });
    ids.push(...page.items.map(({ instanceId }) => instanceId));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return ids;
}
