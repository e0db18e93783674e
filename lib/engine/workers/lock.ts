/** The lock on a task, as its worker knows it: by a token that names the row. */
import { MAX_TRIES_OF_PARKED } from "../../definition/limits.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import { parseItemName } from "../../kernel/batch.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Item, Key } from "../../ports/store.ts";
import { lockedRow, parseOffer } from "../rows/task-row.ts";
import { readItem, scanAll } from "../storage/items.ts";
import {
  isStorable,
  lockedAfter,
  lockSk,
  offersPk,
  shardOf,
  taskTypeOf,
  timeOfRow,
} from "../storage/keys.ts";
import { taskIdOf } from "../storage/names.ts";
import { Again, again, tryRepeatedly } from "../storage/retrying.ts";
import { readableOf } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

export type Lock = Readonly<{ type: string; shard: number; until: Instant; lockId: string }>;

/** The names of a task, as its id holds them. */
export type TaskParts = Readonly<{ instanceId: string; ticket: string }>;

/** The type comes last: it may hold anything. */
export const lockTokenOf = ({ type, shard, until, lockId }: Lock): string =>
  `${shard}.${until}.${lockId}.${encodeURIComponent(type)}`;

const TOKEN = /^(\d{1,2})\.(\d{1,14})\.([\w-]{1,64})\.(.{1,3000})$/;

/** The key of the row that a token names; undefined for what no worker was given. */
export function lockKey(world: World, about: TaskParts, token: string): Key | undefined {
  const [, shard, until, lockId, encoded] = TOKEN.exec(token) ?? [];
  if (encoded === undefined || lockId === undefined) return undefined;
  const type = decoded(encoded);
  if (type === undefined || !isStorable(type)) return undefined;
  const sk = lockSk(instantFrom(Number(until)), about.instanceId, about.ticket, lockId);
  return { pk: offersPk(world.settings.tenant, type, Number(shard)), sk };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/**
 * Moves a row under a new lock. `elsewhere`: another worker has the task by another row; the locked
 * row stays until it is over.
 */
export async function lockRow(
  world: World,
  row: Item,
  { worker, lockSeconds }: Readonly<{ worker: string; lockSeconds: number }>,
): Promise<Readonly<{ moved: Moved | "elsewhere"; locked: Item; lock: Lock }>> {
  const since = world.clock.now();
  const until = instantFrom(since + lockSeconds * 1_000);
  const lockId = world.ids.digest(world.ids.fresh()).slice(0, 16);
  const lock = { type: taskTypeOf(row.key), shard: shardOf(row.key), until, lockId };
  const inDoubt = isInDoubt(world, row);
  const from = inDoubt && { from: nameOfRow(world, row) };
  const locked = lockedRow(row, { worker, until, lockId, ...from });
  const moved = await moveRow(world, row, locked);
  const isMine = moved === "taken" || moved === "in-doubt";
  const mine = { key: locked.key, since };
  const isElsewhere = isMine && inDoubt && (await isLockedElsewhere(world, row, mine));
  return { moved: isElsewhere ? "elsewhere" : moved, locked, lock };
}

/**
 * The row that a token names, over or not; throws where another worker has taken the task: by this
 * row, which is gone then, or by another one that named it when the lock was over.
 */
export async function heldRow(world: World, about: TaskParts, token: string): Promise<Item> {
  const key = lockKey(world, about, token);
  const [row] = key === undefined ? [] : await world.store.get([key]);
  const isLost = !row || (isInDoubt(world, row) && (await isLockedElsewhere(world, row)));
  if (isLost) throw lockLost(about);
  return row;
}

/** Throws where another worker failed the attempt of a row; the next attempt has its own row. */
export async function demandAttempt(world: World, row: Item, attempt: number): Promise<void> {
  const { instanceId, ticket, attempt: locked = attempt } = parseOffer(row.body);
  // Which attempt an item of a batch is at, only its row knows.
  if (locked === attempt || parseItemName(ticket) !== undefined) return;
  await world.store.tidy([row.key]);
  throw lockLost({ instanceId, ticket });
}

export const lockLost = ({ instanceId, ticket }: TaskParts): EngineError =>
  new EngineError("task/lock-lost", { where: `task ${taskIdOf(instanceId, ticket)}` });

// Taking a row: another row is put, and then the old one is removed. The poll that removed
// it has the task; one that was too late removes its own row again. The new row comes first: a poll
// that dies in between leaves a task that is offered twice, and never one that is not offered.

/** `in-doubt`: it is not known whether it was taken. The new row stays, and is over in time. */
type Moved = "taken" | "lost" | "busy" | "in-doubt";

async function moveRow(world: World, old: Item, put: Item): Promise<Moved> {
  if (!(await putNew(world, put))) return "busy";
  const removed = await removeRow(world, old);
  if (removed === "lost" || removed === "busy") await world.store.tidy([put.key]);
  return removed;
}

/** Whether the new row is there for certain; one that may come late is over in time. */
async function putNew(world: World, put: Item): Promise<boolean> {
  const outcome = await world.store.commit([{ put, when: "absent" }]);
  if (outcome.kind !== "unknown") return outcome.kind === "committed";
  return (await readItem(world, put.key)) !== undefined;
}

async function removeRow(world: World, { key, version }: Item): Promise<Moved> {
  const moved = await tryRepeatedly(world, { tries: MAX_TRIES_OF_PARKED }, async () => {
    const outcome = await world.store.commit([{ remove: key, when: { version } }]);
    if (outcome.kind === "committed") return "taken";
    if (outcome.kind === "conflict") return "lost";
    if (outcome.kind === "busy") return again(outcome);
    return (await readItem(world, key))?.version === version ? again() : "in-doubt";
  });
  return moved instanceof Again ? "busy" : moved;
}

// A task may have more than one row: one that was put again, one whose lock is over. A poll that
// takes such a row checks before and after whether another row of the task is locked: of two polls
// that take different rows at once, at least one sees the other and leaves the task, until the lock
// is over. A row is never removed for that: it names the task until that is dead.
//
// Polls that compete for the same row do not check each other: the one that removes it has the task,
// and all the others have lost. If the winner took a loser's row for a lock on the task, it would
// leave the task, and no worker would have it until the lock is over.

/** Whether this row may not be the only one of its task. */
export const isInDoubt = (world: World, { key, body }: Item): boolean =>
  key.sk.startsWith("L#") ? timeOfRow(key) <= world.clock.now() : parseOffer(body).again === true;

/** The name of a row that may not be the only one: a row that was taken and came back has another. */
const nameOfRow = ({ ids }: World, { key, version }: Item): string =>
  ids.digest(`${key.sk} ${version}`).slice(0, 12);

/** The row that the caller has put, and since when it has the task by it. */
type Mine = Readonly<{ key: Key; since: Instant }>;

/**
 * Whether the task is locked by a row that is neither this one, nor `mine`, nor to replace this one;
 * or was at any time since: a slow poll may check only when both locks are over.
 */
async function isLockedElsewhere(world: World, row: Item, mine?: Mine): Promise<boolean> {
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
