/**
 * Tasks that people do, oldest first. A page reads one list of rows, the shortest that the filter
 * names, and the instances of those rows; everything else is compared after reading, so a page may be
 * short and still have a cursor. No page reads more rows than it may have items.
 */
import { MAX_PAGE_BYTES } from "../../definition/limits.ts";
import type { Instant } from "../../definition/time/instant.ts";
import { USER_TASK_TYPE } from "../../definition/user-task.ts";
import type { TaskTicket } from "../../kernel/instance.ts";
import type { Item } from "../../ports/store.ts";
import { weightOf } from "../instances/listing.ts";
import { parseOffer } from "../rows/task-row.ts";
import { listedTask } from "../rows/user-task-row.ts";
import { viewTask } from "../rows/view-task.ts";
import type { Listed, PageRequest } from "../shapes/paging.ts";
import type { TaskFilter, TaskView } from "../shapes/tasks.ts";
import { instanceKey, type UserTaskList, userTaskPk } from "../storage/keys.ts";
import { readMany } from "../storage/read-many.ts";
import { type Image, imageOf } from "../storage/stored-instance.ts";
import { readable, readableOf } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

/** Says whether only tasks that people do can match. */
export const isAboutUserTasks = ({ type, instanceId: _, ...people }: TaskFilter): boolean =>
  type === USER_TASK_TYPE || Object.values(people).some((value) => value !== undefined);

/** A page of them. */
export async function listUserTasks(
  world: World,
  filter: TaskFilter,
  page: PageRequest,
  /** Which of them besides. */
  isMeant: (task: TaskTicket) => boolean = () => true,
): Promise<Listed<TaskView>> {
  const { limit, cursor } = page;
  const pk = userTaskPk(world.settings.tenant, listFor(filter));
  const range = { limit, ...(cursor !== undefined && { after: cursor }) };
  const rows = await world.store.scan(pk, range);
  const found = readableOf(world, rows.items, parseRow);
  const images = await imagesFor(world, found);
  const isAsked = (task: TaskTicket) => isMeant(task) && isWanted(task, filter, world.clock.now());
  const items: TaskView[] = [];
  let bytes = 0;
  for (const [n, { row, instanceId }] of found.entries()) {
    const image = images.get(instanceId);
    if (image === "unreadable") continue;
    const task = await listedTask(world, row, image?.instance);
    if (!image || !task || !isAsked(task)) continue;
    const key = instanceKey(world.settings.tenant, instanceId);
    const view = await readable(world, key, async () => viewTask(world, image, task));
    if (view === "unreadable") continue;
    bytes += weightOf(view);
    // Too heavy for one answer: a page that ends before this one has a cursor that leads to it.
    if (n > 0 && bytes > MAX_PAGE_BYTES) {
      return listUserTasks(world, filter, { ...page, limit: n }, isMeant);
    }
    items.push(view);
  }
  return { items, ...(rows.next !== undefined && { nextCursor: rows.next }) };
}

/** Says whether a task is what the filter asks for. */
export function isWanted(task: TaskTicket, filter: TaskFilter, now: Instant): boolean {
  const { type, assignee, candidateUser, candidateGroup, state, overdue } = filter;
  if (type !== undefined && task.type !== type) return false;
  if (!isAboutUserTasks(filter)) return true;
  const { person } = task;
  if (person === undefined) return false;
  if (assignee !== undefined && person.assignee !== assignee) return false;
  if (candidateUser !== undefined && !person.users?.includes(candidateUser)) return false;
  if (candidateGroup !== undefined && !person.groups?.includes(candidateGroup)) return false;
  if (state !== undefined && (person.assignee === undefined) !== (state === "created"))
    return false;
  return !overdue || (person.dueAt !== undefined && person.dueAt <= now);
}

/** What one person has is less than what they might have, and that less than what a group has. */
function listFor({ assignee, candidateUser, candidateGroup }: TaskFilter): UserTaskList {
  if (assignee !== undefined) return { of: "assignee", name: assignee };
  if (candidateUser !== undefined) return { of: "user", name: candidateUser };
  return candidateGroup === undefined ? { of: "all" } : { of: "group", name: candidateGroup };
}

type Row = Readonly<{ row: Item; instanceId: string }>;

/** Each instance is read once, after the rows that lead to it; those of one that is not there go. */
async function imagesFor(
  world: World,
  rows: readonly Row[],
): Promise<ReadonlyMap<string, Image | "unreadable">> {
  const ids = [...new Set(rows.map(({ instanceId }) => instanceId))];
  const items = await readMany(
    world.store,
    ids.map((id) => instanceKey(world.settings.tenant, id)),
  );
  const images = new Map<string, Image | "unreadable">();
  for (const [n, id] of ids.entries()) {
    const item = items[n];
    if (item) images.set(id, await readable(world, item.key, () => imageOf(world, item)));
  }
  return images;
}

const parseRow = (row: Item): Row => ({ row, instanceId: parseOffer(row.body).instanceId });
