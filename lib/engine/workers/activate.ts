/**
 * A worker's poll: takes what has been there longest, open rows and rows whose locks are over
 * alike, and gives each task away under a lock. Only then is the instance read: a row says nothing
 * about its task. The lock is advisory, the open ticket decides.
 *
 * No task stays locked that no worker was given: where the instance cannot be read the row is put
 * back, to be looked at again in a while, and the poll goes on behind it. A poll that the store fails
 * gives what it has taken by then.
 */
import {
  MAX_ACTIVATED_BYTES,
  MAX_LOST_ROWS,
  UNREADABLE_TASK_REST_MS,
} from "../../definition/limits.ts";
import { formatInstant, type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { TaskTicket } from "../../kernel/instance.ts";
import type { Item, Range } from "../../ports/store.ts";
import { weightOf } from "../instances/listing.ts";
import {
  lockedRow,
  type Offer,
  parseOffer,
  putOpenRow,
  restingRow,
  rowStateOf,
} from "../rows/task-row.ts";
import { lookedForType, spreadWider } from "../rows/task-type.ts";
import { viewTask } from "../rows/view-task.ts";
import type { ActivatedTask, Activation, ActivationRequest } from "../shapes/tasks.ts";
import { tryPutHint } from "../storage/hint.ts";
import {
  instanceKey,
  lockedAfter,
  lockedUntil,
  offersPk,
  openAfter,
  openUntil,
  shardOf,
  taskTypeOf,
  timeOfRow,
} from "../storage/keys.ts";
import { shardFor } from "../storage/shard-for.ts";
import { type Image, loadInstance } from "../storage/stored-instance.ts";
import { readable, readableOf } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { type Lock, lockTokenOf } from "./lock.ts";
import { moveRow } from "./move-row.ts";
import { isInDoubt, isLockedElsewhere, isLockedIn, locksIn, nameOfRow } from "./other-locks.ts";

/** Gives tasks of a type to a worker; where there are none it waits, or says when to ask again. */
export async function activate(world: World, request: ActivationRequest): Promise<Activation> {
  const { type, waitSeconds = 0 } = request;
  const wait = waitSeconds > 0 ? world.offers?.begin(type, waitSeconds * 1_000) : undefined;
  try {
    for (;;) {
      const tasks = await take(world, request);
      if (tasks.length > 0 || waitSeconds === 0) return { tasks };
      if (wait === undefined) return { tasks, retryAfter: RETRY_AFTER_SECONDS };
      const nextAt = await nextAvailable(world, type);
      const inMs = nextAt === undefined ? undefined : Math.max(0, nextAt - world.clock.now());
      if (!(await wait.next(inMs))) return { tasks };
    }
  } finally {
    wait?.stop();
  }
}

/** What a worker that polls for nothing may cost: two small reads and a call. */
const RETRY_AFTER_SECONDS = 2;

async function take(world: World, request: ActivationRequest): Promise<readonly ActivatedTask[]> {
  const { type, max } = request;
  const { shards } = await lookedForType(world, type);
  const first = shardFor(world.ids.fresh(), shards);
  const tasks: ActivatedTask[] = [];
  const poll = { lost: 0, bytes: 0 };
  try {
    for (let n = 0; n < shards && tasks.length < max && poll.bytes < MAX_ACTIVATED_BYTES; n++) {
      await takeFrom(world, request, (first + n) % shards, tasks, poll);
    }
  } catch (error) {
    if (tasks.length === 0) throw error;
    world.onTrouble?.(`a poll for ${type} ended early`, error);
  }
  if (poll.lost >= MAX_LOST_ROWS && !world.settings.host.ownsStore) {
    await spreadWider(world, type, shards);
  }
  return tasks;
}

type Poll = { lost: number; bytes: number };

async function takeFrom(
  world: World,
  { type, max, lockSeconds, worker }: ActivationRequest,
  shard: number,
  tasks: ActivatedTask[],
  poll: Poll,
): Promise<void> {
  const pk = offersPk(world.settings.tenant, type, shard);
  // Read once, when the first row comes that may not be the only one of its task.
  const locks: Item[] = [];
  let reading: Promise<unknown> | undefined;
  const known = async () => {
    reading ??= locksIn(world, pk, world.clock.now()).then((found) => locks.push(...found));
    await reading;
    return locks;
  };
  const how = { lockSeconds, worker, known, put: (lock: Item) => void locks.push(lock) };
  for await (const row of available(world, pk, max - tasks.length)) {
    if (tasks.length >= max || poll.bytes >= MAX_ACTIVATED_BYTES || poll.lost >= 2 * MAX_LOST_ROWS)
      return;
    const taken = await alone(world, row, () => takeRow(world, row, how));
    if (taken === "lost") poll.lost += 1;
    if (taken === undefined || taken === "lost") continue;
    poll.bytes += weightOf(taken);
    tasks.push(taken);
  }
}

/**
 * Rows that may be taken now, the longest first; more than are needed, since others take some too.
 * Where none of them can be taken there may be some behind: those of tasks that somebody has stay
 * in front until their locks are over.
 */
async function* available(world: World, pk: string, wanted: number): AsyncGenerator<Item> {
  const now = world.clock.now();
  const limit = wanted + READ_AHEAD;
  const ranges: Range[] = [openUntil(now), lockedUntil(now)].map((range) => ({ ...range, limit }));
  for (let page = 0; page < MAX_PAGES_OF_POLL && ranges.length > 0; page++) {
    const rows: Item[] = [];
    for (const range of ranges.splice(0)) {
      const { items, next } = await world.store.scan(pk, range);
      rows.push(...readableOf(world, items, readRow));
      if (next !== undefined) ranges.push({ ...range, after: next });
    }
    const free = rows.filter((row) => !isBeingTaken(world, row));
    yield* free.sort((a, b) => timeOfRow(a.key) - timeOfRow(b.key));
  }
}

/** The row itself, if it says whose it is. */
function readRow(row: Item): Item {
  parseOffer(row.body);
  return row;
}

const READ_AHEAD = 20;
const MAX_PAGES_OF_POLL = 20;

type How = Readonly<{
  lockSeconds: number;
  worker: string;
  /** Locks of the shard as they were when the poll asked for them first, and its own. */
  known: () => Promise<readonly Item[]>;
  put: (lock: Item) => void;
}>;

type Taken = Readonly<{ image: Image; task: TaskTicket; lock: Lock }>;

async function takeRow(
  world: World,
  row: Item,
  { lockSeconds, worker, known, put }: How,
): Promise<ActivatedTask | "lost" | undefined> {
  const offer = parseOffer(row.body);
  const inDoubt = isInDoubt(world, row);
  if (inDoubt && isLockedIn(world, await known(), row)) return undefined;
  const since = world.clock.now();
  const until = instantFrom(since + lockSeconds * 1_000);
  const lockId = world.ids.digest(world.ids.fresh()).slice(0, LOCK_ID_LENGTH);
  const from = inDoubt && { from: nameOfRow(world, row) };
  const locked = lockedRow(row, { worker, until, lockId, ...from });
  const moved = await moveRow(world, row, locked);
  if (moved !== "taken") return moved === "lost" ? "lost" : undefined;
  put(locked);
  const mine = { key: locked.key, since };
  if (inDoubt && (await isLockedElsewhere(world, row, mine))) return undefined;
  const lock = { type: taskTypeOf(row.key), until, lockId, shard: shardOf(row.key) };
  const unlock = async (restMs: number) => {
    // It leads to its task again before this row goes; where that fails, this row does in time.
    const at = instantFrom(world.clock.now() + restMs);
    if (await tryPutHint(world, restingRow(world, row, at))) await world.store.tidy([locked.key]);
  };
  let given: ActivatedTask | "unreadable" | undefined;
  try {
    const instance = instanceKey(world.settings.tenant, offer.instanceId);
    given = await readable(world, instance, () => giveAway(world, row, offer, lock));
  } catch (error) {
    await unlock(0);
    throw error;
  }
  if (typeof given === "object") return given;
  // Not at once: a poll that comes every second would write for it each time.
  if (given === "unreadable") await unlock(UNREADABLE_TASK_REST_MS);
  else await world.store.tidy([locked.key]);
  return undefined;
}

/** The task under its lock; undefined where there is none now, and it is offered again if there will. */
async function giveAway(
  world: World,
  row: Item,
  { instanceId }: Offer,
  lock: Lock,
): Promise<ActivatedTask | undefined> {
  const image = await loadInstance(world, instanceId);
  const worth = rowStateOf(world, row, image);
  if (worth.kind === "open") return viewActivated(world, { ...worth, lock });
  if (worth.kind === "early") await giveBack(world, row, worth);
  return undefined;
}

const LOCK_ID_LENGTH = 16;

async function giveBack(
  world: World,
  row: Item,
  { image, task }: Readonly<{ image?: Image; task?: TaskTicket }>,
): Promise<void> {
  if (image && task) return putOpenRow(world, image.instance, task, "again");
  await world.store.commit([{ put: row, when: "absent" }]);
}

/** When the next row may be taken that is there already. Other shards are looked at in time. */
async function nextAvailable(world: World, type: string): Promise<Instant | undefined> {
  // A clock that is told to move tells those who wait itself.
  if (world.settings.virtualClock) return undefined;
  const pk = offersPk(world.settings.tenant, type, 0);
  const now = world.clock.now();
  const ahead = await Promise.all(
    [openAfter(now), lockedAfter(now)].map((range) => world.store.scan(pk, { ...range, limit: 1 })),
  );
  const times = ahead.flatMap(({ items }) => items.map(({ key }) => timeOfRow(key)));
  return times.length === 0 ? undefined : instantFrom(Math.min(...times) + 1);
}

function viewActivated(world: World, { image, task, lock }: Taken): ActivatedTask {
  const { taskId, type, instanceId, element, definition, variables, headers, ...rest } = viewTask(
    world,
    image,
    task,
  );
  const { attempt, retries, idempotencyKey } = rest;
  return {
    taskId,
    lockToken: lockTokenOf(lock),
    type,
    instanceId,
    element,
    definition,
    variables,
    headers,
    attempt,
    retries,
    lockedUntil: formatInstant(lock.until),
    idempotencyKey,
  };
}

// Polls of a process that owns the store do not fight each other for the same task: they end with it,
// and so does what is noted here. Elsewhere a poll may stop for ever in a process that lives on, and
// a note of it would keep the task from everybody there: rows decide alone. The note is of the task
// and not of the row: a crash may have left two rows of one task, and polls that wait are woken in the
// same moment, when both are over. Each would take one, see the other and let the task be, for ever.

const beingTaken = new WeakMap<World, Set<string>>();
const isBeingTaken = (world: World, row: Item): boolean =>
  beingTaken.get(world)?.has(nameOfTask(row)) ?? false;

function nameOfTask({ key, body }: Item): string {
  const { instanceId, ticket } = parseOffer(body);
  return `${key.pk} ${instanceId} ${ticket}`;
}

async function alone<T>(world: World, row: Item, work: () => Promise<T>): Promise<T | undefined> {
  if (!world.settings.host.ownsStore) return work();
  if (isBeingTaken(world, row)) return undefined;
  const tasks = beingTaken.get(world) ?? new Set();
  beingTaken.set(world, tasks.add(nameOfTask(row)));
  try {
    return await work();
  } finally {
    tasks.delete(nameOfTask(row));
  }
}
