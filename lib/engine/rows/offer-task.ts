/** A task that nobody here runs is offered: by a row, or in a queue of the user's own. */
import type { Instance, TaskTicket, Ticket } from "../../kernel/instance.ts";
import { isUserTask } from "../../kernel/user-task.ts";
import type { Item, Write } from "../../ports/store.ts";
import { storeLimits } from "../../ports/store-rules.ts";
import type { World } from "../world.ts";
import type { Change } from "./change.ts";
import { isTask, openTask, openTasks, runsHere } from "./open-tickets.ts";
import { isQueued, queueTask } from "./queue-task.ts";
import { openRow, openRowAgain, putOpenRow } from "./task-row.ts";
import { offeredType } from "./task-type.ts";

/** Offers an attempt after its commit. */
export async function offerTask(
  world: World,
  instance: Instance,
  task: TaskTicket,
  how: "first" | "again",
): Promise<void> {
  const type = await offeredType(world, task.type);
  if (isQueued(world, type) && (await queueTask(world, instance, task, type))) return;
  await putOpenRow(world, instance, task, how);
}

/** What a door does for those who look in the next moment. A queue is left to its parked copy. */
export async function showTask(world: World, change: Change, task: TaskTicket): Promise<void> {
  if (isOfferedInCommit(world, change, task)) return;
  if (isQueued(world, await offeredType(world, task.type))) return;
  await putOpenRow(
    world,
    change.image.instance,
    task,
    isFirstRow(change, task) ? "first" : "again",
  );
}

/** Rows that a commit writes with the instance, and rows that are put before it. */
export type Offers = Readonly<{ together: readonly Write[]; before: readonly Item[] }>;

/**
 * With queues in memory nobody comes back after a crash to offer what the step has opened: the
 * offers are committed with it. What does not fit into the commit, and tickets that an incident
 * gives back (their row may still be there, or somebody has them), are put before it, and again
 * after it as always.
 */
export async function offersOf(world: World, change: Change): Promise<Offers> {
  if (world.settings.host.queuesSurvive) return { together: [], before: [] };
  const rows: { task: TaskTicket; row: Item }[] = [];
  for (const task of offeredBy(world, change)) {
    const { shards } = await offeredType(world, task.type);
    rows.push({ task, row: rowBefore(world, change, task, shards) });
  }
  const isTogether = new Set(togetherOf(world, change).map(({ id }) => id));
  return {
    together: rows
      .filter(({ task }) => isTogether.has(task.id))
      .map(({ row }) => ({ put: row, when: "absent" })),
    before: rows.filter(({ task }) => !isTogether.has(task.id)).map(({ row }) => row),
  };
}

/**
 * One that was open before has been offered before: its row must lead to it though the commit that
 * it is put for may never be. There may be another row of it, as there may be of one given back, so
 * both are marked.
 */
function rowBefore(world: World, change: Change, task: TaskTicket, shards: number): Item {
  const { instance } = change.image;
  if (isFirstRow(change, task)) return openRow(instance, task, shards);
  const wasOpen = openTask(change.before, task.id)?.attempt === task.attempt;
  return openRowAgain(world, wasOpen ? change.before : instance, task, shards);
}

/** Whether the row of a task was committed with it. */
export function isOfferedInCommit(world: World, change: Change, { id }: Ticket): boolean {
  return togetherOf(world, change).some((task) => task.id === id);
}

/** Polls that wait are told what the commit has offered. */
export function tellOffered(world: World, change: Change): void {
  if (world.offers === undefined) return;
  for (const { type } of togetherOf(world, change)) world.offers.tell(type);
}

const offeredBy = (world: World, { fresh }: Change): readonly TaskTicket[] =>
  openTasks(fresh.tickets).filter((task) => !runsHere(world, task) && !isUserTask(task));

function togetherOf(world: World, change: Change): readonly TaskTicket[] {
  if (world.settings.host.queuesSurvive) return [];
  const room = Math.max(0, storeLimits.writesPerCommit - 1 - change.companions.length);
  return offeredBy(world, change)
    .filter((task) => isFirstRow(change, task))
    .slice(0, room);
}

/** Nobody can have put a row for this attempt before: its ticket is new, or the attempt is. */
export function isFirstRow({ before }: Change, ticket: Ticket): boolean {
  if (NEW_TASK.exec(ticket.id)?.[1] === String(before.version + 1)) return true;
  const earlier = openTask(before, ticket.id);
  return earlier !== undefined && isTask(ticket) && earlier.attempt < ticket.attempt;
}

/** The version that has opened a task, or the family that it is a member of. */
const NEW_TASK = /^[kf](\d+)\./;
