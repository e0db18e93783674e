// Rows of business keys and tags when everything rests: each instance is found by its keys and
// tags, and no row points to nothing.
import { MAX_ROW_IN_FLIGHT_MS } from "../../../lib/definition/limits.ts";
import { instanceOrder } from "../../../lib/engine/storage/keys.ts";
import { type Instance, isTerminal } from "../../../lib/kernel/instance.ts";
import type { Item } from "../../../lib/ports/store.ts";
import { TENANT } from "../world/stage.ts";
import type { SimulatedWorld } from "../world/world.ts";
import { must } from "./violation.ts";

export async function checkFound(world: SimulatedWorld): Promise<void> {
  const lives = [...world.stage.invariants.lives.values()].map(({ instance }) => instance);
  const kept = lives.filter(({ erased }) => !erased);
  const { engine } = world.observer();
  for (const instance of kept) {
    for (const filter of filtersOf(instance)) {
      const { items } = await engine.list(filter, { limit: 200 });
      must(
        items.some(({ instanceId }) => instanceId === instance.id),
        () => `${instance.id} is not found by ${JSON.stringify(filter)}`,
      );
    }
  }
  const dead = deadRows(world, kept);
  if (dead.length === 0) return;
  must(!world.isCalm, () => `rows point to nothing without a fault: ${names(dead)}`);
  // An actor that crashed while it started an instance has left them; an hour later any list
  // removes them.
  world.stage.time.pass(2 * MAX_ROW_IN_FLIGHT_MS);
  for (const { key } of dead) await engine.list(filterBy(key.pk), { limit: 200 });
  const left = deadRows(world, kept).filter(isForNobody(lives));
  must(left.length === 0, () => `rows point to nothing for ever: ${names(left)}`);
}

const names = (rows: readonly Item[]): string => rows.map(({ key }) => key.pk + key.sk).join(", ");

const filtersOf = ({ businessKey, tags = [] }: Instance) => [
  ...(businessKey === undefined ? [] : [{ businessKey }]),
  ...tags.map((tag) => ({ tag })),
];

function filterBy(pk: string) {
  const [, , by, text = ""] = pk.split("#");
  return by === "bk" ? { businessKey: text } : { tag: text };
}

/** Rows without an instance, and those of an ended one that do not expire with it. */
function deadRows({ backends }: SimulatedWorld, kept: readonly Instance[]): readonly Item[] {
  const byOrder = new Map(kept.map((instance) => [instanceOrder(instance), instance]));
  return backends.store.items().filter(({ key, expiresAt }) => {
    if (!key.pk.startsWith(`${TENANT}#K#`)) return false;
    const instance = byOrder.get(key.sk);
    return instance === undefined || (isTerminal(instance) && expiresAt === undefined);
  });
}

/**
 * A row that was written again after the end stays while its instance does; then it points to
 * nothing.
 */
const isForNobody =
  (lives: readonly Instance[]) =>
  ({ key }: Item): boolean =>
    !lives.some((instance) => !instance.erased && instanceOrder(instance) === key.sk);
