/**
 * Rows by which users find their tasks. They are hints: the instance alone says who has a task, and
 * who may have it.
 *
 * 1. A row has the version of the instance that it was put for. Put again, it has a later one.
 * 2. Only the row that was seen dead goes: a user who gets the task again has a row under the same
 *    key, and that one must stay.
 * 3. When a task changes hands its new row is there before the old one goes.
 */
import type { Instance, TaskTicket } from "../../kernel/instance.ts";
import type { Item, Key } from "../../ports/store.ts";
import { readMany } from "../storage/items.ts";
import { sinceOfUserTaskSk, type UserTaskList, userTaskPk, userTaskSk } from "../storage/keys.ts";
import type { World } from "../world.ts";
import { lifeOfRow } from "./life.ts";
import { type Change, isTask, openTask, runsHere } from "./open-tickets.ts";
import { offerBody, parseOffer } from "./task-row.ts";

/** The rows of a task that a person does, as of this version of its instance; else none. */
export function userTaskRows(instance: Instance, task: TaskTicket): readonly Item[] {
  const { id: instanceId, version } = instance;
  const body = offerBody({ instanceId, ticket: task.id, version });
  return keysOf(instance, task).map((key) => ({ key, version, body }));
}

/** Of the rows that the change's tickets should have, those that they had not before. */
export function freshRows(change: Change, task: TaskTicket): readonly Item[] {
  const before = openTask(change.before, task.id);
  const had = new Set(before ? keysOf(change.before, before).map(nameOf) : []);
  return userTaskRows(change.image.instance, task).filter(({ key }) => !had.has(nameOf(key)));
}

/** Removes the rows of what a commit has closed, or given to another user. */
export async function tidyUserTaskRows(world: World, { before, image }: Change): Promise<void> {
  const live = new Set(keysIn(world, image.instance).map(nameOf));
  const isLive = ({ key }: Pick<Item, "key">) => live.has(nameOf(key)) || undefined;
  const keys = keysIn(world, before).filter((key) => !isLive({ key }));
  const rows = await readMany(world.store, keys);
  const now = world.clock.now();
  const isDead = (row: Item) =>
    lifeOfRow(now, namingOf(row), image.instance, () => isLive(row)).kind === "dead";
  const dead = rows.filter((row) => row !== undefined).filter(isDead);
  await Promise.all(dead.map((row) => removeSeen(world, row)));
}

/** The task that a row of a list names, if the list has it; a dead row goes. */
export async function listedTask(
  world: World,
  row: Item,
  instance: Instance | "unreadable" | undefined,
): Promise<TaskTicket | undefined> {
  const naming = namingOf(row);
  const life = lifeOfRow(world.clock.now(), naming, instance, (read) => {
    const task = openTask(read, naming.ticket);
    return task && keysOf(read, task).some(({ pk }) => pk === row.key.pk) ? task : undefined;
  });
  if (life.kind === "dead") await removeSeen(world, row);
  return life.kind === "open" ? life.found : undefined;
}

const namingOf = ({ key, version, body }: Item) => ({
  version,
  since: sinceOfUserTaskSk(key.sk),
  ticket: parseOffer(body).ticket,
});

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
