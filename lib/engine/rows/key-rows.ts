/**
 * Rows by which instances are found by their business key and their tags.
 *
 * 1. They are put before the commit that creates the instance: an instance is never without its
 *    rows. A commit that loses repairs the rows that it has put.
 * 2. The version of a row is the instant at which it was put: a row without its instance may be
 *    about to get one, for an hour from then, and a row that is put again is young again.
 * 3. They get their expiry when the instance ends, and go when it is erased.
 * 4. Everything that they say is in their keys: they have no body.
 */
import { MAX_TRIES_OF_PARKED } from "../../definition/limits.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import { type Instance, isTerminal } from "../../kernel/instance.ts";
import type { Item, Key } from "../../ports/store.ts";
import { expireItem, expiryOf, readMany, removeItem, tryPutHint } from "../storage/items.ts";
import { type FoundBy, foundByPk, instanceOrder } from "../storage/keys.ts";
import { again, retrying } from "../storage/retrying.ts";
import type { World } from "../world.ts";
import { lifeOfRow } from "./life.ts";

/** Says whether an instance is found by anything besides its definition. */
export const hasKeyRows = ({ businessKey, tags = [] }: Keyed): boolean =>
  businessKey !== undefined || tags.length > 0;

/** Puts the rows of an instance that is about to be created; false when the store stays busy. */
export async function putKeyRows(world: World, instance: Instance): Promise<boolean> {
  const version = world.clock.now();
  for (const key of keysOf(instance)) {
    if (!(await tryPutHint(world, { key, version, body: NO_BODY }))) return false;
  }
  return true;
}

/** The rows of an ended instance go when it does; those of a live one are left alone. */
export async function expireKeyRows(world: World, instance: Instance): Promise<void> {
  const expiresAt = expiryOf(world, instance);
  if (expiresAt === undefined) return;
  const where = `instance ${instance.id}`;
  await retrying(world, { tries: MAX_TRIES_OF_PARKED, where }, async () => {
    let isDone = true;
    for (const row of await foundRows(world, instance)) {
      if (row.expiresAt !== undefined) continue;
      if ((await expireItem(world, row, expiresAt)) !== "committed") isDone = false;
    }
    return isDone || again();
  });
}

/** Removes the rows of an instance, for certain. */
export async function removeKeyRows(world: World, instance: Keyed & Placed): Promise<void> {
  for (const { key } of await foundRows(world, instance)) await removeItem(world, key);
}

/** After a lost race to create an instance: repairs the rows that were put for it. */
export async function repairKeyRows(
  world: World,
  lost: Instance,
  current: Instance,
): Promise<void> {
  if (!hasKeyRows(lost)) return;
  const isSame = lost.startedAt === current.startedAt && !current.erased;
  if (!isSame) await removeKeyRows(world, lost);
  else if (isTerminal(current)) await expireKeyRows(world, current);
}

/** Says whether a row is dead; `found` is what its id names, maybe an instance that began later. */
export function isDeadRow(
  now: Instant,
  { key, version }: Item,
  found: Instance | "unreadable" | undefined,
): boolean {
  const isOther = typeof found === "object" && instanceOrder(found) !== key.sk;
  const instance = isOther ? undefined : found;
  const row = { version: 1, since: instantFrom(version) };
  return lifeOfRow(now, row, instance, ({ erased }) => !erased || undefined).kind === "dead";
}

async function foundRows(world: World, instance: Keyed & Placed): Promise<readonly Item[]> {
  const rows = await readMany(world.store, keysOf(instance));
  return rows.filter((row) => row !== undefined);
}

type Keyed = Pick<Instance, "businessKey" | "tags">;
type Placed = Pick<Instance, "tenant" | "id" | "startedAt">;

function keysOf(instance: Keyed & Placed): readonly Key[] {
  const { tenant, businessKey, tags = [] } = instance;
  const found: FoundBy[] = [
    ...(businessKey === undefined ? [] : [{ by: "bk" as const, text: businessKey }]),
    ...[...new Set(tags)].map((text) => ({ by: "tag" as const, text })),
  ];
  const sk = instanceOrder(instance);
  return found.map((each) => ({ pk: foundByPk(tenant, each), sk }));
}

const NO_BODY = new Uint8Array();
