/**
 * A task that no handler here runs is offered: to workers by a row or in a queue of the user's own,
 * to users by rows in their lists, or to both.
 */
import type { Instance, TaskTicket, Ticket } from "../../kernel/instance.ts";
import { isUserTask } from "../../kernel/user-task.ts";
import type { Item, Write } from "../../ports/store.ts";
import { storeLimits } from "../../ports/store-rules.ts";
import { putHint } from "../storage/items.ts";
import type { World } from "../world.ts";
import { type Change, isTask, openTask, openTasks, runsHere } from "./open-tickets.ts";
import { isQueued, queueTask } from "./queue-task.ts";
import { freshMark, openRow, putOpenRow } from "./task-row.ts";
import { offeredType } from "./task-type.ts";
import { freshRows, userTaskRows } from "./user-task-row.ts";

type How = "first" | "again";

/** Offers a task after its commit, or again. */
export async function offer(world: World, instance: Instance, task: TaskTicket, how: How) {
  if (!isUserTask(task)) await offerTask(world, instance, task, how);
  await putUserRows(world, instance, task);
}

/** The same to workers alone. */
export async function offerTask(world: World, instance: Instance, task: TaskTicket, how: How) {
  const type = await offeredType(world, task.type);
  if (isQueued(world, type) && (await queueTask(world, instance, task, type))) return;
  await putOpenRow(world, instance, task, how);
}

/** Offers it anew, whatever row there is. */
export async function offerAnew(world: World, instance: Instance, task: TaskTicket): Promise<void> {
  if (!isUserTask(task)) await putOpenRow(world, instance, task, "anew");
  await putUserRows(world, instance, task);
}

/** What a request does for those who look in the next moment. A queue is left to its parked copy. */
export async function showOffer(world: World, change: Change, task: TaskTicket): Promise<void> {
  const isShown =
    isUserTask(task) || isReassigned(change, task) || isOfferedInCommit(world, change, task);
  if (!isShown && !isQueued(world, await offeredType(world, task.type))) {
    const how = isFirstRow(change, task) ? "first" : "again";
    await putOpenRow(world, change.image.instance, task, how);
  }
  await putAll(world, freshRows(change, task));
}

/** Only its assignee is another: workers find it where it was. */
function isReassigned({ before }: Change, { id, person, attempt }: TaskTicket): boolean {
  const earlier = openTask(before, id);
  return earlier?.attempt === attempt && earlier.person?.turn !== person?.turn;
}

async function putUserRows(world: World, instance: Instance, task: TaskTicket): Promise<void> {
  await putAll(world, userTaskRows(instance, task));
}

/** Together: a task may have dozens of rows, and a step a hundred such tasks. */
async function putAll(world: World, rows: readonly Item[]): Promise<void> {
  await Promise.all(rows.map((row) => putHint(world, row)));
}

/** Rows that a commit writes with the instance, and rows that are put before it. */
export type Offers = Readonly<{ together: readonly Write[]; before: readonly Item[] }>;

/**
 * With queues in memory, no message is redelivered after a crash to offer what the step has opened:
 * the rows are committed with it. Rows that do not fit into the commit, and those of tickets that an
 * incident gives back (a row or a worker may still have them), are put before it, and again after it.
 */
export async function offersIn(world: World, change: Change): Promise<Offers> {
  if (world.settings.host.queuesSurvive) return { together: [], before: [] };
  const isTogether = new Set(togetherOf(world, change).map(({ id }) => id));
  const together: Item[] = [];
  const before: Item[] = [];
  for (const task of offeredBy(world, change)) {
    const { shards } = await offeredType(world, task.type);
    const row = rowBefore(world, change, task, shards);
    (isTogether.has(task.id) ? together : before).push(row);
  }
  const listed = change.fresh.tickets.filter(isTask).filter((task) => !runsHere(world, task));
  const isNew = ({ id }: Ticket) => id.startsWith(`k${change.before.version + 1}.`);
  const rowsOf = (tasks: typeof listed) => tasks.flatMap((task) => freshRows(change, task));
  const rows = rowsOf(listed.filter(isNew));
  const room = roomBeside(change, together.length);
  return {
    together: [...together, ...rows.slice(0, room)].map((put) => ({ put, when: "absent" })),
    before: [...before, ...rows.slice(room), ...rowsOf(listed.filter((task) => !isNew(task)))],
  };
}

/**
 * A task that was open before was offered before: its row must name it even if the commit that the
 * row is put for fails. It may have another row, and so may one that was given back: both are marked.
 */
function rowBefore(world: World, change: Change, task: TaskTicket, shards: number): Item {
  const { instance } = change.image;
  if (isFirstRow(change, task)) return openRow(instance, task, shards);
  const wasOpen = openTask(change.before, task.id)?.attempt === task.attempt;
  return openRow(wasOpen ? change.before : instance, task, shards, freshMark(world));
}

/** Whether the row of a task was committed with it. */
export const isOfferedInCommit = (world: World, change: Change, { id }: Ticket): boolean =>
  togetherOf(world, change).some((task) => task.id === id);

/** Wakes the polls that wait for what the commit has offered. */
export function tellOffered(world: World, change: Change): void {
  if (world.offers === undefined) return;
  for (const { type } of togetherOf(world, change)) world.offers.tell(type);
}

const offeredBy = (world: World, { fresh }: Change): readonly TaskTicket[] =>
  openTasks(fresh.tickets).filter((task) => !runsHere(world, task) && !isUserTask(task));

function togetherOf(world: World, change: Change): readonly TaskTicket[] {
  if (world.settings.host.queuesSurvive) return [];
  const first = offeredBy(world, change).filter((task) => isFirstRow(change, task));
  return first.slice(0, roomBeside(change, 0));
}

/** How many writes the commit has room for, beside the instance and what it brings. */
const roomBeside = ({ companions }: Change, taken: number): number =>
  Math.max(0, storeLimits.writesPerCommit - 1 - companions.length - taken);

/** No row can have been put for this attempt before: its ticket is new, or the attempt is. */
export function isFirstRow({ before }: Change, ticket: Ticket): boolean {
  if (NEW_TASK.exec(ticket.id)?.[1] === String(before.version + 1)) return true;
  const earlier = openTask(before, ticket.id);
  return earlier !== undefined && isTask(ticket) && earlier.attempt < ticket.attempt;
}

/** The version that has opened a task, or the batch that it is an item of. */
const NEW_TASK = /^[kf](\d+)\./;
