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
import { loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { moveRow } from "./move-row.ts";
import { isInDoubt, isLockedElsewhere, nameOfRow } from "./other-locks.ts";

export type Lock = Readonly<{ type: string; shard: number; until: Instant; lockId: string }>;

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
function lockKey(
  world: World,
  { instanceId, ticket }: Readonly<{ instanceId: string; ticket: string }>,
  token: string,
): Key | undefined {
  const lock = parseLockToken(token);
  if (lock === undefined || !isStorable(lock.type)) return undefined;
  const pk = offersPk(world.settings.tenant, lock.type, lock.shard);
  return { pk, sk: lockSk(lock.until, instanceId, ticket, lock.lockId) };
}

/**
 * The row that a token names, over or not; throws where somebody else has taken the task: by this
 * row, which is gone then, or by another one that led to it when the lock was over.
 */
export async function heldRow(
  world: World,
  about: Readonly<{ instanceId: string; ticket: string }>,
  token: string,
): Promise<Item> {
  const row = await namedRow(world, about, token);
  if (!isInDoubt(world, row) || !(await isLockedElsewhere(world, row))) return row;
  throw lockLost(taskIdOf(about.instanceId, about.ticket));
}

async function namedRow(
  world: World,
  about: Readonly<{ instanceId: string; ticket: string }>,
  token: string,
): Promise<Item> {
  const key = lockKey(world, about, token);
  const [row] = key === undefined ? [] : await world.store.get([key]);
  if (row) return row;
  throw lockLost(taskIdOf(about.instanceId, about.ticket));
}

/** Throws where the attempt of a row was failed by somebody else; the next one has its own row. */
export async function demandAttempt(world: World, row: Item, attempt: number): Promise<void> {
  const { instanceId, ticket, attempt: locked = attempt } = parseOffer(row.body);
  // Which attempt a member of a family is at, only its row knows.
  if (locked === attempt || parseItemName(ticket) !== undefined) return;
  await world.store.tidy([row.key]);
  throw lockLost(taskIdOf(instanceId, ticket));
}

/** Keeps the task for longer; says so when there is nothing more to do for it. */
export async function heartbeat(
  world: World,
  about: Readonly<{ instanceId: string; ticket: string; taskId: string }>,
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
  return prolong(world, row, { ...about, lockToken, lockSeconds });
}

async function prolong(
  world: World,
  row: Item,
  {
    taskId,
    lockToken,
    lockSeconds,
  }: Readonly<{ taskId: string; lockToken: string; lockSeconds: number }>,
): Promise<Heartbeat> {
  const since = world.clock.now();
  const until = instantFrom(since + lockSeconds * 1_000);
  const lockId = world.ids.digest(`${lockToken} ${world.ids.fresh()}`).slice(0, 16);
  const lock = { type: taskTypeOf(row.key), shard: shardOf(row.key), until, lockId };
  const { worker = "" } = parseOffer(row.body);
  const inDoubt = isInDoubt(world, row);
  const from = inDoubt && { from: nameOfRow(world, row) };
  const locked = lockedRow(row, { worker, until, lockId, ...from });
  const moved = await moveRow(world, row, locked);
  const mine = { key: locked.key, since };
  if (inDoubt && (await isLockedElsewhere(world, row, mine))) throw lockLost(taskId);
  switch (moved) {
    case "taken":
    // The old row is gone and the new one stands: if it was not this call, it was another worker.
    case "in-doubt":
      return { lockToken: lockTokenOf(lock), lockedUntil: formatInstant(until) };
    case "lost":
      throw lockLost(taskId);
    case "busy":
      throw new EngineError("engine/busy", {
        happened: "The store is too busy to keep the lock now",
        where: `task ${taskId}`,
        fix: "Send the heartbeat again in a second; the lock is as it was.",
        retryable: true,
      });
  }
}

function lockLost(taskId: string): EngineError {
  return new EngineError("task/lock-lost", {
    happened: "The lock was over, and another worker has taken the task",
    where: `task ${taskId}`,
    fix: "Drop it: its result is somebody else's to report. Send heartbeats, or lock for longer.",
    retryable: false,
  });
}
