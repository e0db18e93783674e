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
import { parseBody } from "../formats.ts";
import { instanceKey, type PeopleList, peoplePk } from "../keys.ts";
import { weightOf } from "../listing.ts";
import { openTask } from "../owed.ts";
import { readMany } from "../read-many.ts";
import type { Listed, PageRequest } from "../shapes/paging.ts";
import type { TaskFilter, TaskView } from "../shapes/tasks.ts";
import { type Image, imageOf } from "../stored-instance.ts";
import { viewTask } from "../views.ts";
import type { World } from "../world.ts";
import { isListed, tidyRow } from "./rows.ts";

/** Says whether only tasks that people do can match. */
export const isAboutPeople = ({ type, instanceId: _, ...people }: TaskFilter): boolean =>
  type === USER_TASK_TYPE || Object.values(people).some((value) => value !== undefined);

/** A page of them. */
export async function listPeople(
  world: World,
  filter: TaskFilter,
  page: PageRequest,
  /** Which of them besides. */
  isMeant: (task: TaskTicket) => boolean = () => true,
): Promise<Listed<TaskView>> {
  const { limit, cursor } = page;
  const pk = peoplePk(world.settings.tenant, listFor(filter));
  const range = { limit, ...(cursor !== undefined && { after: cursor }) };
  const rows = await world.store.scan(pk, range);
  const images = await imagesFor(world, rows.items);
  const items: TaskView[] = [];
  let bytes = 0;
  for (const [n, row] of rows.items.entries()) {
    const { instanceId, ticket } = parseRow(row);
    const image = images.get(instanceId);
    const task = image && openTask(image.instance, ticket);
    if (!image || !task || !isListed(row, image.instance, task)) {
      await tidyRow(world, row, image?.instance);
    } else if (isMeant(task) && isWanted(task, filter, world.clock.now())) {
      const view = viewTask(world, image, task);
      bytes += weightOf(view);
      // Too heavy for one answer: a page that ends before this one has a cursor that leads to it.
      if (n > 0 && bytes > MAX_PAGE_BYTES) {
        return listPeople(world, filter, { ...page, limit: n }, isMeant);
      }
      items.push(view);
    }
  }
  return { items, ...(rows.next !== undefined && { nextCursor: rows.next }) };
}

/** Says whether a task is what the filter asks for. */
export function isWanted(task: TaskTicket, filter: TaskFilter, now: Instant): boolean {
  const { type, assignee, candidateUser, candidateGroup, state, overdue } = filter;
  if (type !== undefined && task.type !== type) return false;
  if (!isAboutPeople(filter)) return true;
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
function listFor({ assignee, candidateUser, candidateGroup }: TaskFilter): PeopleList {
  if (assignee !== undefined) return { of: "assignee", name: assignee };
  if (candidateUser !== undefined) return { of: "user", name: candidateUser };
  return candidateGroup === undefined ? { of: "all" } : { of: "group", name: candidateGroup };
}

/** Each instance is read once, after the rows that lead to it. */
async function imagesFor(world: World, rows: readonly Item[]): Promise<ReadonlyMap<string, Image>> {
  const ids = [...new Set(rows.map((row) => parseRow(row).instanceId))];
  const keys = ids.map((id) => instanceKey(world.settings.tenant, id));
  const images = new Map<string, Image>();
  for (const item of await readMany(world.store, keys)) {
    if (item === undefined) continue;
    const image = await imageOf(world, item);
    images.set(image.instance.id, image);
  }
  return images;
}

function parseRow({ body }: Item): { instanceId: string; ticket: string } {
  const { i, k } = parseBody("offer", body) as { i: string; k: string };
  return { instanceId: i, ticket: k };
}
