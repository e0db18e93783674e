/**
 * A worker's poll takes the oldest rows first, open rows and rows whose locks are over alike, and
 * locks each. Only then is the instance read: a row says nothing about its task. The lock is
 * advisory, the open ticket decides.
 *
 * No task stays locked that no worker was given: where the instance cannot be read the row is put
 * back, to be read again in a while, and the poll goes on behind it. A poll that the store fails
 * gives what it has taken by then.
 */
import {
  MAX_ACTIVATED_BYTES,
  MAX_LOST_ROWS,
  UNREADABLE_TASK_REST_MS,
} from "../../definition/limits.ts";
import { formatInstant, type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { Item, Range } from "../../ports/store.ts";
import type { ActivatedTask, Activation, ActivationRequest } from "../../shapes/tasks.ts";
import { weightOf } from "../instances/listing.ts";
import { type OpenRow, parseOffer, putOpenRow, restingRow, rowStateOf } from "../rows/task-row.ts";
import { lookedForType, spreadWider } from "../rows/task-type.ts";
import { inputOf, viewWork } from "../rows/view-task.ts";
import { perWorld } from "../storage/in-process.ts";
import { tryPutHint } from "../storage/items.ts";
import {
  instanceKey,
  lockedAfter,
  lockedUntil,
  offersPk,
  openAfter,
  openUntil,
  shardFor,
  timeOfRow,
} from "../storage/keys.ts";
import { loadInstance } from "../storage/stored-instance.ts";
import { readable, readableOf } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { isInDoubt, isLockedIn, type Lock, lockRow, locksIn, lockTokenOf } from "./lock.ts";

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
  const { type } = request;
  const { shards } = await lookedForType(world, type);
  const first = shardFor(world.ids.fresh(), shards);
  const poll: Poll = { ...request, tasks: [], lost: 0, bytes: 0 };
  try {
    for (let n = 0; n < shards && !isDone(poll); n++) {
      await takeFrom(world, poll, offersPk(world.settings.tenant, type, (first + n) % shards));
    }
  } catch (error) {
    if (poll.tasks.length === 0) throw error;
    world.onTrouble?.(`a poll for ${type} ended early`, error);
  }
  if (poll.lost >= MAX_LOST_ROWS && !world.settings.host.ownsStore) {
    await spreadWider(world, type, shards);
  }
  return poll.tasks;
}

type Poll = ActivationRequest & { tasks: ActivatedTask[]; lost: number; bytes: number };

const isDone = ({ tasks, max, bytes, lost }: Poll): boolean =>
  tasks.length >= max || bytes >= MAX_ACTIVATED_BYTES || lost >= 2 * MAX_LOST_ROWS;

async function takeFrom(world: World, poll: Poll, pk: string): Promise<void> {
  const locks: Locks = {};
  for await (const row of available(world, pk, poll.max - poll.tasks.length)) {
    if (isDone(poll)) return;
    const taken = await alone(world, row, () => takeRow(world, row, poll, locks));
    if (taken === "lost") poll.lost += 1;
    if (taken === undefined || taken === "lost") continue;
    poll.bytes += weightOf(taken);
    poll.tasks.push(taken);
  }
}

/** Locks of a shard, read when the first row comes that may not be the only one of its task. */
type Locks = { known?: Item[] };

/**
 * Rows that may be taken now, the oldest first; more than are needed, since others take some too. If
 * none can be taken, others may follow: rows of locked tasks stay in front until their locks are over.
 */
async function* available(world: World, pk: string, wanted: number): AsyncGenerator<Item> {
  const now = world.clock.now();
  const limit = wanted + READ_AHEAD;
  const ranges: Range[] = [openUntil(now), lockedUntil(now)].map((range) => ({ ...range, limit }));
  for (let page = 0; page < MAX_PAGES_OF_POLL && ranges.length > 0; page++) {
    const rows: Item[] = [];
    for (const range of ranges.splice(0)) {
      const { items, next } = await world.store.scan(pk, range);
      rows.push(...readableOf(world, items, (row) => parseOffer(row.body) && row));
      if (next !== undefined) ranges.push({ ...range, after: next });
    }
    const free = rows.filter((row) => !isBeingTaken(world, row));
    yield* free.sort((a, b) => timeOfRow(a.key) - timeOfRow(b.key));
  }
}

const READ_AHEAD = 20;
const MAX_PAGES_OF_POLL = 20;

async function takeRow(
  world: World,
  row: Item,
  poll: Poll,
  locks: Locks,
): Promise<ActivatedTask | "lost" | undefined> {
  if (isInDoubt(world, row)) {
    locks.known ??= await locksIn(world, row.key.pk, world.clock.now());
    if (isLockedIn(world, locks.known, row)) return undefined;
  }
  const { moved, locked, lock } = await lockRow(world, row, poll);
  if (moved === "taken" || moved === "elsewhere") locks.known?.push(locked);
  if (moved !== "taken") return moved === "lost" ? "lost" : undefined;
  const unlock = async (restMs: number) => {
    // An open row names the task before this one goes; if that fails, this one is over in time.
    const at = instantFrom(world.clock.now() + restMs);
    if (await tryPutHint(world, restingRow(world, row, at))) await world.store.tidy([locked.key]);
  };
  let given: ActivatedTask | "unreadable" | undefined;
  try {
    const instance = instanceKey(world.settings.tenant, parseOffer(row.body).instanceId);
    given = await readable(world, instance, () => giveAway(world, row, lock));
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

/** The task under its lock; undefined where there is none now. One that will be is offered again. */
async function giveAway(world: World, row: Item, lock: Lock): Promise<ActivatedTask | undefined> {
  const image = await loadInstance(world, parseOffer(row.body).instanceId);
  const state = rowStateOf(world, row, image);
  if (state.kind === "open") return viewActivated(state, lock);
  if (state.kind === "dead") return undefined;
  if (state.image) await putOpenRow(world, state.image.instance, state.task, "again");
  else await world.store.commit([{ put: row, when: "absent" }]);
  return undefined;
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

const viewActivated = ({ image, task }: OpenRow, lock: Lock): ActivatedTask => ({
  ...viewWork(image, task, inputOf(image, task)),
  lockToken: lockTokenOf(lock),
  lockedUntil: formatInstant(lock.until),
});

// Polls of a process that owns the store do not compete for the same task: they end with the process,
// and so does this note. Elsewhere a poll may stop for ever in a process that lives on, and its note
// would keep the task from every poll there: only rows decide. The note names the task, not the row: a
// crash may leave two rows of one task, and waiting polls wake at the moment when both locks are over.
// Each would take one row, see the other and leave the task, for ever.

const beingTaken = perWorld(() => new Set<string>());
const isBeingTaken = (world: World, row: Item): boolean => beingTaken(world).has(nameOfTask(row));

function nameOfTask({ key, body }: Item): string {
  const { instanceId, ticket } = parseOffer(body);
  return `${key.pk} ${instanceId} ${ticket}`;
}

async function alone<T>(world: World, row: Item, work: () => Promise<T>): Promise<T | undefined> {
  if (!world.settings.host.ownsStore) return work();
  if (isBeingTaken(world, row)) return undefined;
  beingTaken(world).add(nameOfTask(row));
  try {
    return await work();
  } finally {
    beingTaken(world).delete(nameOfTask(row));
  }
}
