/**
 * Rows by which workers find their tasks: open rows in the order in which they may be taken, locked
 * rows in the order in which their locks are over. Rows are hints: the ticket in the instance decides,
 * and a row is removed only after its ticket was seen closed.
 *
 * 1. A row names the version of its instance that it was put for. A reader of an older version has
 *    not seen the ticket yet, and leaves the row alone.
 * 2. Each attempt has its own open row. A row of an earlier attempt may be left: it is dead. Only its
 *    row knows the attempt of a batch item: it leads to the item while that is open.
 * 3. The step that opens the attempt puts an open row once. A caller that does not know whether that
 *    was done puts it again and marks it: its task may be locked already. The mark is a version that
 *    no other put has, so a row that was taken and came back is another row.
 */
import { MAX_TRIES_OF_PARKED } from "../../definition/limits.ts";
import type { Instant } from "../../definition/time/instant.ts";
import type { Instance, TaskTicket } from "../../kernel/instance.ts";
import type { Item, Key } from "../../ports/store.ts";
import { encodeBody, parseBody } from "../storage/formats.ts";
import { placeOf, putHint } from "../storage/items.ts";
import { lockSk, offersPk, openSk, shardFor, taskTypeOf, timeOfRow } from "../storage/keys.ts";
import { again, retrying } from "../storage/retrying.ts";
import type { Image } from "../storage/stored-instance.ts";
import { isDamaged, readableOf } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { lifeOfRow } from "./life.ts";
import { openTask } from "./open-tickets.ts";
import { offeredType } from "./task-type.ts";

/** What a row of a task says, be it in the list of a worker or of a user. */
export type Offer = Readonly<{
  instanceId: string;
  ticket: string;
  /** Absent in rows of older engines, and so is `attempt`. */
  version?: number;
  attempt?: number;
  /** Of an item of a batch that was tried before: how often it may still be tried. */
  retries?: number;
  /** Of a locked row: who has it. */
  worker?: string;
  /** The task may be locked already. */
  again?: boolean;
  /** Of a locked row: which row it is to take the place of, where others may name the task. */
  from?: string;
}>;

type Stored = Readonly<
  { i: string; k: string } & Partial<{
    r: number;
    n: number;
    t: number;
    w: string;
    g: 1;
    f: string;
  }>
>;

/**
 * The one shape that is written: `i`, `k` and `r` always, the others where they say something. Older
 * shapes are `{i, k}` of any row, and of worker rows `{i, k, w}`: a row that moves keeps its shape.
 */
export function offerBody(offer: Offer): Uint8Array {
  const { instanceId, ticket, version, attempt = 1, retries, worker, again, from } = offer;
  // What is undefined is not written.
  return encodeBody("offer", {
    i: instanceId,
    k: ticket,
    r: version,
    n: attempt > 1 ? attempt : undefined,
    t: retries,
    w: worker,
    g: again ? 1 : undefined,
    f: from,
  } satisfies { [Name in keyof Required<Stored>]: Stored[Name] | undefined });
}

export function parseOffer(body: Uint8Array): Offer {
  const { i, k, r, n, t, w, g, f } = parseBody("offer", body) as Stored;
  return {
    instanceId: i,
    ticket: k,
    ...(r !== undefined && { version: r, attempt: n ?? 1 }),
    ...(t !== undefined && { retries: t }),
    ...(w !== undefined && { worker: w }),
    ...(g === 1 && { again: true }),
    ...(f !== undefined && { from: f }),
  };
}

/** The task that a row leads to, as the row offers it; undefined: another attempt of it is open. */
export function asOffered(
  task: TaskTicket,
  { attempt = task.attempt, retries = task.retries }: Offer,
): TaskTicket | undefined {
  if (task.member !== undefined) return { ...task, attempt, retries };
  return attempt === task.attempt ? task : undefined;
}

/** The open row of a task's attempt, as the step that opens it puts it, or a later caller. */
export function openRow(instance: Instance, task: TaskTicket, shards: number, mark = 0): Item {
  const { id: instanceId, version } = instance;
  const { id: ticket, attempt, member, retries } = task;
  const isRetried = attempt > 1 && member !== undefined;
  const offer = { instanceId, ticket, version, attempt, ...(isRetried && { retries }) };
  return {
    key: openKey(instance, task, shards),
    version: version * MARKS + mark,
    body: offerBody({ ...offer, again: mark > 0 }),
  };
}

/** Rows of a later version of the instance are the newer ones, whatever their marks. */
const MARKS = 2 ** 22;

/** A mark for a row that may not be the only one of its task; in practice no row gets it twice. */
export function freshMark({ ids }: World): number {
  let mark = 0;
  for (const character of ids.digest(ids.fresh())) {
    mark = (mark * 67 + (character.codePointAt(0) ?? 0)) % (MARKS - 1);
  }
  return mark + 1;
}

/** Where the open row of a task's attempt is put. */
export const openKey = (
  { tenant, id }: Pick<Instance, "tenant" | "id">,
  task: TaskTicket,
  shards: number,
): Key => ({
  pk: offersPk(tenant, task.type, shardFor(`${id}.${task.id}`, shards)),
  sk: openSk(task.notBefore ?? task.since, id, task),
});

/**
 * Offers an attempt after its commit. `again` is for a caller that cannot know whether that was done:
 * the row is read first, since it is nearly always there and a refused put costs five reads. `anew`
 * puts it whatever row there is, which may be about to go.
 */
export async function putOpenRow(
  world: World,
  instance: Instance,
  task: TaskTicket,
  how: "first" | "again" | "anew",
): Promise<void> {
  const { shards } = await offeredType(world, task.type);
  const put = openRow(instance, task, shards, how === "first" ? 0 : freshMark(world));
  if (how === "anew") await putHint(world, put);
  else if (how === "first" || !(await isOffered(world, put.key))) await putUnlessThere(world, put);
  world.offers?.tell(task.type);
}

/** Whether a row stands there that names the task; one that was damaged makes room for it. */
async function isOffered(world: World, key: Key): Promise<boolean> {
  const [row] = await world.store.get([key]);
  if (row === undefined) return false;
  if (readableOf(world, [row], ({ body }) => parseOffer(body), isDamaged).length > 0) return true;
  await world.store.commit([{ remove: key, when: { version: row.version } }]);
  return false;
}

/** A row stands under this key when this resolves. */
async function putUnlessThere(world: World, put: Item): Promise<void> {
  const tries = { tries: MAX_TRIES_OF_PARKED, where: placeOf(put.key) };
  await retrying(world, tries, async () => {
    const outcome = await world.store.commit([{ put, when: "absent" }]);
    return outcome.kind === "committed" || outcome.kind === "conflict" || again(outcome);
  });
}

type LockedAs = Readonly<{ worker: string; until: Instant; lockId: string }> & Pick<Offer, "from">;

/** The locked row that takes another row's place. */
export function lockedRow({ key, body }: Item, { until, lockId, ...lock }: LockedAs): Item {
  const { again: _, from: __, ...offer } = parseOffer(body);
  return {
    key: { pk: key.pk, sk: lockSk(until, offer.instanceId, offer.ticket, lockId) },
    version: 1,
    body: offerBody({ ...offer, ...lock }),
  };
}

/** An open row that takes another row's place and may be taken from `at` on. */
export function restingRow(world: World, { key, body }: Item, at: Instant): Item {
  const { worker: _, from: __, ...offer } = parseOffer(body);
  const { instanceId, ticket: id, version = 0, attempt = 1 } = offer;
  return {
    key: { pk: key.pk, sk: openSk(at, instanceId, { id, attempt }) },
    version: version * MARKS + freshMark(world),
    body: offerBody({ ...offer, again: true }),
  };
}

/** A row whose task may be taken. */
export type OpenRow = Readonly<{ kind: "open"; image: Image; task: TaskTicket }>;

/** What a row names, by the instance as it was read after the row. */
export type RowState =
  | OpenRow
  /** Its ticket or its attempt is over: the row may go. */
  | Readonly<{ kind: "dead" }>
  /** Its ticket was not seen yet, or it may not be taken yet: a row must name it until then. */
  | Readonly<{ kind: "early"; task: TaskTicket; image: Image }>
  | Readonly<{ kind: "early"; task?: undefined; image?: undefined }>;

export function rowStateOf(world: World, row: Item, image: Image | undefined): RowState {
  const offer = parseOffer(row.body);
  const { ticket, version = 0 } = offer;
  const now = world.clock.now();
  const naming = { ticket, version, since: timeOfRow(row.key) };
  const life = lifeOfRow(now, naming, image?.instance, (instance) => {
    const open = openTask(instance, ticket);
    const task = open && asOffered(open, offer);
    // Put before a commit that lost: the one that won has opened something else under the same name.
    return task?.type === taskTypeOf(row.key) ? task : undefined;
  });
  if (life.kind === "dead") return life;
  if (life.kind === "unsure" || image === undefined) return { kind: "early" };
  const task = life.found;
  return { kind: (task.notBefore ?? 0) > now ? "early" : "open", image, task };
}
