/**
 * Tasks that users do, oldest first. A page reads one list of rows, the shortest that the filter
 * names, and the instances of those rows; everything else is compared after reading, so a page may be
 * short and still have a cursor. No page reads more rows than it may have items.
 */
import { MAX_PAGE_BYTES } from "../../definition/limits.ts";
import type { Instant } from "../../definition/time/instant.ts";
import { USER_TASK_TYPE } from "../../definition/user-task.ts";
import type { TaskTicket } from "../../kernel/instance.ts";
import type { Item, Page } from "../../ports/store.ts";
import type { Listed, PageRequest } from "../../shapes/paging.ts";
import type { TaskFilter, TaskView } from "../../shapes/tasks.ts";
import { weightOf } from "../instances/listing.ts";
import { parseOffer } from "../rows/task-row.ts";
import { listedTask } from "../rows/user-task-row.ts";
import { viewTask } from "../rows/view-task.ts";
import { rangeOf, readMany } from "../storage/items.ts";
import { instanceKey, type UserTaskList, userTaskPk } from "../storage/keys.ts";
import { type Image, imageOf } from "../storage/stored-instance.ts";
import { readable, readableOf } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

/** Says whether only tasks that users do can match. */
export const isAboutUserTasks = ({ type, instanceId: _, ...people }: TaskFilter): boolean =>
  type === USER_TASK_TYPE || Object.values(people).some((value) => value !== undefined);

/** A page of them; `isMeant` says which of them besides. */
export function listUserTasks(
  world: World,
  filter: TaskFilter,
  page: PageRequest,
  isMeant: (task: TaskTicket) => boolean = () => true,
): Promise<Listed<TaskView>> {
  const pk = userTaskPk(world.settings.tenant, listFor(filter));
  const read = async (some: PageRequest): Promise<Page<Row>> => {
    const { items, ...rest } = await world.store.scan(pk, rangeOf(some));
    return { items: await withImages(world, items), ...rest };
  };
  return tasksOnPage(page, read, async ({ row, image }) => {
    const task = await listedTask(world, row, image?.instance);
    if (!image || !task || !isMeant(task)) return undefined;
    if (!isWanted(task, filter, world.clock.now())) return undefined;
    const key = instanceKey(world.settings.tenant, image.instance.id);
    return readable(world, key, async () => viewTask(world, image, task));
  });
}

/** A page of the tasks that rows name; one that two rows name is shown once. */
export async function tasksOnPage<R>(
  page: PageRequest,
  read: (page: PageRequest) => Promise<Page<R>>,
  view: (row: R) => Promise<TaskView | "unreadable" | undefined>,
): Promise<Listed<TaskView>> {
  const { items, next } = await read(page);
  const shown = new Map<string, TaskView>();
  let bytes = 0;
  for (const [n, row] of items.entries()) {
    const task = await view(row);
    if (task === undefined || task === "unreadable" || shown.has(task.taskId)) continue;
    bytes += weightOf(task);
    // Too heavy for one answer: the cursor of a page that ends before this one begins with it.
    if (n > 0 && bytes > MAX_PAGE_BYTES) return tasksOnPage({ ...page, limit: n }, read, view);
    shown.set(task.taskId, task);
  }
  return { items: [...shown.values()], ...(next !== undefined && { nextCursor: next }) };
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

type Row = Readonly<{ row: Item; image: Image | undefined }>;

/** Each instance is read once, after the rows that name it; without those that cannot be read. */
async function withImages(world: World, rows: readonly Item[]): Promise<readonly Row[]> {
  const parse = (row: Item) => ({ row, id: parseOffer(row.body).instanceId });
  const found = readableOf(world, rows, parse);
  const ids = [...new Set(found.map(({ id }) => id))];
  const keys = ids.map((id) => instanceKey(world.settings.tenant, id));
  const items = await readMany(world.store, keys);
  const images = new Map<string, Image | "unreadable">();
  for (const [n, id] of ids.entries()) {
    const item = items[n];
    if (item) images.set(id, await readable(world, item.key, () => imageOf(world, item)));
  }
  return found.flatMap(({ row, id }) => {
    const image = images.get(id);
    return image === "unreadable" ? [] : [{ row, image }];
  });
}
