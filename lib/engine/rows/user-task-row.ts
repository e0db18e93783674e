/**
 * Rows by which people find their tasks. They are hints: who has a task, and who may have it, stands
 * in the instance alone.
 *
 * 1. A row has the version of the instance that it was put for. Put again, it has a later one.
 * 2. It is dead once its instance was seen, at that version or a later one, without such a task in
 *    that list. Only then it goes, and only the row that was seen: whoever gets the task again puts a
 *    row under the same key, and that one must stay.
 * 3. When a task changes hands its new row is there before the old one goes.
 */
import { MAX_ROW_IN_FLIGHT_MS } from "../../definition/limits.ts";
import type { Instance, TaskTicket } from "../../kernel/instance.ts";
import type { Item, Key } from "../../ports/store.ts";
import { storeLimits } from "../../ports/store-rules.ts";
import { encodeBody } from "../storage/formats.ts";
import { sinceOfUserTaskSk, type UserTaskList, userTaskPk, userTaskSk } from "../storage/keys.ts";
import type { World } from "../world.ts";
import type { Change } from "./change.ts";
import { isTask, openTask, runsHere } from "./open-tickets.ts";

/** The rows of a task that a person does, as of this version of its instance; else none. */
export function userTaskRows(instance: Instance, task: TaskTicket): readonly Item[] {
  const { tenant, id, version } = instance;
  const sk = userTaskSk(id, task);
  const body = encodeBody("offer", { i: id, k: task.id });
  return listsOf(task).map((list) => ({
    key: { pk: userTaskPk(tenant, list), sk },
    version,
    body,
  }));
}

/** Of the rows that the change's tickets should have, those that they had not before. */
export function freshRows(change: Change, task: TaskTicket): readonly Item[] {
  const before = openTask(change.before, task.id);
  const had = new Set(before ? keysOf(change.before, before).map(nameOf) : []);
  return userTaskRows(change.image.instance, task).filter(({ key }) => !had.has(nameOf(key)));
}

/** Takes away the rows of what a commit has closed, or given to somebody else. */
export async function tidyUserTaskRows(world: World, { before, image }: Change): Promise<void> {
  const { instance } = image;
  const live = new Set(keysIn(world, instance).map(nameOf));
  const dead = keysIn(world, before).filter((key) => !live.has(nameOf(key)));
  for (let from = 0; from < dead.length; from += storeLimits.keysPerCall) {
    const rows = await world.store.get(dead.slice(from, from + storeLimits.keysPerCall));
    const seen = rows.filter((row) => row !== undefined);
    const old = seen.filter(({ version }) => version <= instance.version);
    await Promise.all(old.map((row) => removeSeen(world, row)));
  }
}

/** Takes away a row that somebody came along, if it is dead; `instance`: as it was read after it. */
export async function tidyRow(
  world: World,
  row: Item,
  instance: Instance | undefined,
): Promise<void> {
  if (isDead(world, row, instance)) await removeSeen(world, row);
}

/** Says whether the task is in the list that this row stands in. */
export const isListed = ({ key }: Item, instance: Instance, task: TaskTicket): boolean =>
  keysOf(instance, task).some(({ pk }) => pk === key.pk);

function isDead(world: World, row: Item, instance: Instance | undefined): boolean {
  // Without its instance it may be of a commit that is under way.
  if (instance === undefined) {
    return world.clock.now() - sinceOfUserTaskSk(row.key.sk) > MAX_ROW_IN_FLIGHT_MS;
  }
  if (instance.version < row.version) return false;
  return !keysIn(world, instance).some((key) => nameOf(key) === nameOf(row.key));
}

async function removeSeen({ store }: World, { key, version }: Item): Promise<void> {
  await store.commit([{ remove: key, when: { version } }]);
}

function keysIn(world: World, instance: Instance): readonly Key[] {
  const tasks = instance.tickets.filter(isTask).filter((task) => !runsHere(world, task));
  return tasks.flatMap((task) => keysOf(instance, task));
}

const keysOf = ({ tenant, id }: Instance, task: TaskTicket): readonly Key[] =>
  listsOf(task).map((list) => ({ pk: userTaskPk(tenant, list), sk: userTaskSk(id, task) }));

function listsOf({ person }: TaskTicket): readonly UserTaskList[] {
  if (person === undefined) return [];
  const { assignee, users = [], groups = [] } = person;
  return [
    ...(assignee === undefined ? [] : [{ of: "assignee" as const, name: assignee }]),
    ...users.map((name) => ({ of: "user" as const, name })),
    ...groups.map((name) => ({ of: "group" as const, name })),
    { of: "all" },
  ];
}

const nameOf = ({ pk, sk }: Key): string => `${pk} ${sk}`;
