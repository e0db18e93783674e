/**
 * A task may have more than one row: one that was put again, one whose lock is over. A poll that
 * takes such a row checks before and after whether another row of the task is locked: of two polls
 * that take different rows at once, at least one sees the other and leaves the task, until the lock
 * is over. A row is never removed for that: it names the task until that is dead.
 *
 * Polls that compete for the same row do not check each other: the one that removes it has the task,
 * and all the others have lost. If the winner took a loser's row for a lock on the task, it would
 * leave the task, and no worker would have it until the lock is over.
 */
import type { Instant } from "../../definition/time/instant.ts";
import type { Item, Key } from "../../ports/store.ts";
import { parseOffer } from "../rows/task-row.ts";
import { lockedAfter, timeOfRow } from "../storage/keys.ts";
import { scanAll } from "../storage/scan-all.ts";
import { readableOf } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

/** Whether this row may not be the only one of its task. */
export const isInDoubt = (world: World, { key, body }: Item): boolean =>
  key.sk.startsWith("L#") ? timeOfRow(key) <= world.clock.now() : parseOffer(body).again === true;

/** The name of a row that may not be the only one: a row that was taken and came back has another. */
export const nameOfRow = ({ ids }: World, { key, version }: Item): string =>
  ids.digest(`${key.sk} ${version}`).slice(0, NAME_LENGTH);

const NAME_LENGTH = 12;

/** The row that the caller has put, and since when it has the task by it. */
type Mine = Readonly<{ key: Key; since: Instant }>;

/**
 * Whether the task is locked by a row that is neither this one, nor `mine`, nor to replace this one;
 * or was at any time since: a slow poll may check only when both locks are over.
 */
export async function isLockedElsewhere(world: World, row: Item, mine?: Mine): Promise<boolean> {
  const since = mine?.since ?? world.clock.now();
  return isLockedIn(world, await locksIn(world, row.key.pk, since), row, mine);
}

/** Every lock of a shard that was not over at this instant. */
export async function locksIn(world: World, pk: string, since: Instant): Promise<Item[]> {
  const locks: Item[] = [];
  const range = { ...lockedAfter(since), limit: 200 };
  for await (const lock of scanAll(world.store, pk, range)) locks.push(lock);
  return locks;
}

/** The same question, to locks that have been read already. */
export function isLockedIn(
  world: World,
  locks: readonly Item[],
  row: Item,
  mine?: Pick<Mine, "key">,
): boolean {
  const { instanceId, ticket, attempt } = parseOffer(row.body);
  const name = nameOfRow(world, row);
  const others = readableOf(world, locks, ({ key: { sk }, body }) => ({ sk, ...parseOffer(body) }));
  return others.some(({ sk, ...other }) => {
    const isSame = other.instanceId === instanceId && other.ticket === ticket;
    const isOther = sk !== row.key.sk && sk !== mine?.key.sk && other.from !== name;
    return isSame && isOther && other.attempt === attempt;
  });
}
