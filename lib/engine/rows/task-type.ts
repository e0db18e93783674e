/**
 * What is known of a type of task that others do: over how many shards its rows are spread, and
 * whether it has a queue of the user's own. The item also makes the type known: types are few, and
 * who lists tasks goes from type to type.
 *
 * 1. The number of shards only grows, so a row that was put by an old number is still found.
 * 2. A host may go by what it read for a short time. A task that is offered by an outdated word on
 *    its queue gets a row, and the adoption of tasks moves it there.
 * 3. Where the item was damaged, rows are put where every number of shards finds them, and looked for
 *    wherever they could be. Setting the type anew replaces it.
 */

import { isKeyName } from "../../definition/key-name.ts";
import {
  MAX_SHARDS,
  MAX_SHARDS_PER_PAGE,
  MAX_TRIES_OF_DOOR,
  TASK_TYPE_MEMORY_MS,
} from "../../definition/limits.ts";
import type { Instant } from "../../definition/time/instant.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Item, Page } from "../../ports/store.ts";
import { cursorInvalid } from "../../ports/store-rules.ts";
import type { PageRequest } from "../../shapes/paging.ts";
import type { TaskTypeView } from "../../shapes/tasks.ts";
import { encodeBody, parserOf } from "../storage/formats.ts";
import { perWorld, rememberIn } from "../storage/in-process.ts";
import { listPages } from "../storage/items.ts";
import { offersPk, taskTypeKey, taskTypeOf, taskTypesView } from "../storage/keys.ts";
import { again, retrying } from "../storage/retrying.ts";
import { isDamaged, readable, readableOf } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

export type TaskType = Readonly<{ shards: number; queueArn?: string }>;

type ReadType = Readonly<{ version: number; type: TaskType }>;

const NEW: TaskType = { shards: 1 };

/** Its rows may be in every shard there can be. */
const ANYWHERE: TaskType = { shards: MAX_SHARDS };

/** The type of a task that is about to be offered; one that was never used is made known. */
export async function offeredType(world: World, name: string): Promise<TaskType> {
  const remembered = recall(world, name);
  if (remembered && remembered.version > 0) return remembered.type;
  const key = taskTypeKey(world.settings.tenant, name);
  const read = await readable(world, key, () => changeType(world, name, (it) => it), isDamaged);
  return read === "unreadable" ? NEW : read.type;
}

/** The type as it is, for who looks for its tasks; nothing is made. */
export async function lookedForType(world: World, name: string): Promise<TaskType> {
  const key = taskTypeKey(world.settings.tenant, name);
  const read = recall(world, name) ?? (await readable(world, key, () => readType(world, name)));
  return read === "unreadable" ? ANYWHERE : read.type;
}

/** Spreads new rows over twice as many shards, unless another poll just did, or they are the most. */
export async function spreadWider(world: World, name: string, seen: number): Promise<void> {
  await changeType(world, name, (type) =>
    type.shards > seen || type.shards >= MAX_SHARDS ? type : { ...type, shards: type.shards * 2 },
  );
}

/** Where the tasks of this type go from now on: to a queue, or with `null` to those who poll. */
export async function setTaskType(
  world: World,
  name: string,
  { queueArn }: Readonly<{ queueArn: string | null }>,
): Promise<TaskTypeView> {
  if (queueArn !== null) await checkQueue(world, name, queueArn);
  const { type } = await changeType(
    world,
    name,
    ({ queueArn: _, ...rest }) => (queueArn === null ? rest : { ...rest, queueArn }),
    ANYWHERE,
  );
  return viewType(name, type);
}

/** Better now than task by task: what can be told of a queue without sending to it. */
async function checkQueue({ ownQueues }: World, name: string, queueArn: string): Promise<void> {
  if (ownQueues === undefined) {
    throw new EngineError("task-type/no-queues", { where: `task type ${name}` });
  }
  if (!ownQueues.allows(queueArn)) {
    throw new EngineError("task-type/queue-not-allowed", { where: `queue ${queueArn}` });
  }
  const problem = await ownQueues.problemOf(queueArn);
  if (problem !== undefined) {
    throw new EngineError("task-type/queue-unusable", {
      happened: `Tasks cannot be sent to this queue: ${problem}`,
      where: `queue ${queueArn}`,
      fix: "Nothing was changed. Repair the queue or its policy, or name another, then send the request again.",
    });
  }
}

export async function getTaskType(world: World, name: string): Promise<TaskTypeView> {
  return viewType(name, (await readType(world, name)).type);
}

const viewType = (type: string, { shards, queueArn }: TaskType): TaskTypeView => ({
  type,
  queueArn: queueArn ?? null,
  shards,
});

/** Every type that tasks have been offered of, or those from this one on. */
export async function* taskTypes(world: World, from?: string): AsyncGenerator<string> {
  const range = { limit: 100, ...(from !== undefined && { from: orderOf(from) }) };
  const seen = new Set<string>();
  for await (const keys of listPages(world.store, taskTypesView(world.settings.tenant), range)) {
    for (const type of keys.map(taskTypeOf)) {
      if (!seen.has(type)) yield type;
      seen.add(type);
    }
  }
}

async function readType(world: World, name: string, damaged?: TaskType): Promise<ReadType> {
  const [item] = await world.store.get([taskTypeKey(world.settings.tenant, name)]);
  if (item === undefined) return remember(world, name, { version: 0, type: NEW });
  const { version, body } = item;
  if (damaged === undefined) return remember(world, name, { version, type: parseType(body) });
  const [type = damaged] = readableOf(world, [item], () => parseType(body), isDamaged);
  return { version, type };
}

/** `damaged` is what to change where the stored type was damaged; by default it is left alone. */
function changeType(
  world: World,
  name: string,
  change: (type: TaskType) => TaskType,
  damaged?: TaskType,
): Promise<ReadType> {
  const { tenant } = world.settings;
  return retrying(world, { tries: MAX_TRIES_OF_DOOR, where: `task type ${name}` }, async () => {
    const read = await readType(world, name, damaged);
    const { version } = read;
    const type = change(read.type);
    if (version > 0 && damaged === undefined && type === read.type) return read;
    const put = {
      key: taskTypeKey(tenant, name),
      version: version + 1,
      body: encodeBody("task-type", type),
      listed: { view: taskTypesView(tenant), order: orderOf(name) },
    };
    const when = version === 0 ? "absent" : { version };
    const outcome = await world.store.commit([{ put, when }]);
    // Unknown or lost: the next read tells what has become of it.
    if (outcome.kind !== "committed") return again(outcome);
    return remember(world, name, { version: version + 1, type });
  });
}

const orderOf = (type: string): string => `T#${encodeURIComponent(type)}`;

const parseType = parserOf<TaskType>("task-type");

type Remembered = ReadType & Readonly<{ at: Instant }>;

const memoryOf = perWorld(() => new Map<string, Remembered>());

function recall(world: World, name: string): ReadType | undefined {
  const known = memoryOf(world).get(name);
  if (known === undefined || world.settings.host.ownsStore) return known;
  const ageMs = world.clock.now() - known.at;
  return ageMs >= 0 && ageMs < TASK_TYPE_MEMORY_MS ? known : undefined;
}

function remember(world: World, name: string, read: ReadType): ReadType {
  rememberIn(memoryOf(world), name, { ...read, at: world.clock.now() });
  return read;
}

/**
 * Rows of a type, or of all, shard by shard; a task that is just being taken may have two. However
 * many types have no tasks, a page looks at so many shards and no more: then it is short.
 */
export async function offerRows(
  world: World,
  only: string | undefined,
  { limit, cursor }: PageRequest,
): Promise<Page<Item>> {
  const from = cursor === undefined ? undefined : parsePlace(cursor, only);
  const items: Item[] = [];
  let looked = 0;
  for await (const { type, shard, after } of placesFrom(world, only, from)) {
    const range = { limit: limit - items.length, ...(after && { after }) };
    const page = await world.store.scan(offersPk(world.settings.tenant, type, shard), range);
    items.push(...page.items);
    looked += 1;
    const isFull = items.length >= limit || looked >= MAX_SHARDS_PER_PAGE;
    if (page.next !== undefined || isFull) {
      return { items, next: JSON.stringify([type, shard, page.next ?? null]) };
    }
  }
  return { items };
}

/** A shard of a type, and how far it was read; `null`: to its end. */
type Place = Readonly<{ type: string; shard: number; after: string | null }>;

async function* placesFrom(
  world: World,
  only: string | undefined,
  from: Place | undefined,
): AsyncGenerator<Place> {
  for await (const type of only === undefined ? taskTypes(world, from?.type) : [only]) {
    const { shards } = await lookedForType(world, type);
    for (let shard = type === from?.type ? from.shard : 0; shard < shards; shard++) {
      const after = type === from?.type && shard === from.shard ? from.after : "";
      if (after !== null) yield { type, shard, after };
    }
  }
}

function parsePlace(cursor: string, only: string | undefined): Place {
  try {
    const [type, shard, after] = JSON.parse(cursor) as [string, number, string | null];
    const isSound = typeof type === "string" && isKeyName(type) && Number.isSafeInteger(shard);
    if (isSound && (only === undefined || type === only)) {
      return { type, shard, after: after === null ? null : String(after) };
    }
  } catch {
    // Told below.
  }
  throw cursorInvalid(cursor);
}
