/** The lock on a task, as its worker knows it: by a token that names the row. */
import { DEFAULT_LOCK_SECONDS } from "../../definition/limits.ts";
import { formatInstant, type Instant, instantFrom } from "../../definition/time/instant.ts";
import { parseItemName } from "../../kernel/batch.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Item, Key } from "../../ports/store.ts";
import { openTask } from "../rows/open-tickets.ts";
import { lockedRow, parseOffer } from "../rows/task-row.ts";
import type { Heartbeat, HeartbeatRequest } from "../shapes/tasks.ts";
import { isStorable, lockSk, offersPk, shardOf, taskTypeOf } from "../storage/keys.ts";
import { taskIdOf } from "../storage/names.ts";
import { engineBusy } from "../storage/retrying.ts";
import { loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { type Moved, moveRow } from "./move-row.ts";
import { isInDoubt, isLockedElsewhere, nameOfRow } from "./other-locks.ts";

export type Lock = Readonly<{ type: string; shard: number; until: Instant; lockId: string }>;

/** The names of a task, as its id holds them. */
export type TaskParts = Readonly<{ instanceId: string; ticket: string }>;

/** The type comes last: it may hold anything. */
export const lockTokenOf = ({ type, shard, until, lockId }: Lock): string =>
  `${shard}.${until}.${lockId}.${encodeURIComponent(type)}`;

function parseLockToken(token: string): Lock | undefined {
  const [, shard, until, lockId, type] =
    /^(\d{1,2})\.(\d{1,14})\.([\w-]{1,64})\.(.{1,3000})$/.exec(token) ?? [];
  if (type === undefined || lockId === undefined) return undefined;
  const lock = { shard: Number(shard), until: instantFrom(Number(until)), lockId };
  try {
    return { ...lock, type: decodeURIComponent(type) };
  } catch {
    return undefined;
  }
}

/** The key of the row that a token names; undefined for what no worker was given. */
function lockKey(world: World, about: TaskParts, token: string): Key | undefined {
  const lock = parseLockToken(token);
  if (lock === undefined || !isStorable(lock.type)) return undefined;
  const pk = offersPk(world.settings.tenant, lock.type, lock.shard);
  return { pk, sk: lockSk(lock.until, about.instanceId, about.ticket, lock.lockId) };
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

/** Keeps the task for longer; says so when there is nothing more to do for it. */
export async function heartbeat(
  world: World,
  about: TaskParts,
  { lockToken, lockSeconds = DEFAULT_LOCK_SECONDS }: HeartbeatRequest,
): Promise<Heartbeat | undefined> {
  const image = await loadInstance(world, about.instanceId);
  if (image === undefined || image.instance.erased) return undefined;
  const task = openTask(image.instance, about.ticket);
  if (task === undefined) {
    const key = lockKey(world, about, lockToken);
    if (key) await world.store.tidy([key]);
    return { cancelled: true };
  }
  const row = await heldRow(world, about, lockToken);
  await demandAttempt(world, row, task.attempt);
  const { worker = "" } = parseOffer(row.body);
  const { moved, lock } = await lockRow(world, row, { worker, lockSeconds });
  if (moved === "lost" || moved === "elsewhere") throw lockLost(about);
  if (moved === "busy") {
    throw engineBusy({
      happened: "The store is too busy to keep the lock now",
      where: `task ${taskIdOf(about.instanceId, about.ticket)}`,
      fix: "Send the heartbeat again in a second; the lock is as it was.",
    });
  }
  // In doubt: the old row is gone and the new one stands. Only this call, or a worker, removed it.
  return { lockToken: lockTokenOf(lock), lockedUntil: formatInstant(lock.until) };
}

const lockLost = ({ instanceId, ticket }: TaskParts): EngineError =>
  new EngineError("task/lock-lost", {
    happened: "The lock was over, and another worker has taken the task",
    where: `task ${taskIdOf(instanceId, ticket)}`,
    fix: "Drop it: the other worker reports its result. Send heartbeats, or lock for longer.",
  });
