/** A task that nobody here runs is offered to whoever may do it: to workers, to people, or to both. */
import type { Instance, TaskTicket, Ticket } from "../../kernel/instance.ts";
import { isUserTask } from "../../kernel/user-task.ts";
import type { Item } from "../../ports/store.ts";
import { storeLimits } from "../../ports/store-rules.ts";
import { putHint } from "../storage/hint.ts";
import type { World } from "../world.ts";
import type { Change } from "./change.ts";
import { type Offers, offersOf, offerTask, showTask } from "./offer-task.ts";
import { isTask, openTask, runsHere } from "./open-tickets.ts";
import { putRowAnew } from "./task-row.ts";
import { freshRows, userTaskRows } from "./user-task-row.ts";

/** Offers a task after its commit, or again. */
export async function offer(
  world: World,
  instance: Instance,
  task: TaskTicket,
  how: "first" | "again",
): Promise<void> {
  if (!isUserTask(task)) await offerTask(world, instance, task, how);
  await putPeople(world, instance, task);
}

/** Offers it anew, whatever row there is. */
export async function offerAnew(world: World, instance: Instance, task: TaskTicket): Promise<void> {
  if (!isUserTask(task)) await putRowAnew(world, instance, task);
  await putPeople(world, instance, task);
}

/** What a door does for those who look in the next moment. */
export async function showOffer(world: World, change: Change, task: TaskTicket): Promise<void> {
  if (!isUserTask(task) && !isReassigned(change, task)) await showTask(world, change, task);
  await putAll(world, freshRows(change, task));
}

/** Rows that a commit writes with the instance, and rows that are put before it. */
export async function offersIn(world: World, change: Change): Promise<Offers> {
  const forWorkers = await offersOf(world, change);
  if (world.settings.host.queuesSurvive) return forWorkers;
  const { before, fresh, companions } = change;
  const offered = fresh.tickets.filter(isTask).filter((task) => !runsHere(world, task));
  const isNew = ({ id }: Ticket) => id.startsWith(`k${before.version + 1}.`);
  const taken = 1 + companions.length + forWorkers.together.length;
  const room = Math.max(0, storeLimits.writesPerCommit - taken);
  const rowsOf = (tasks: typeof offered) => tasks.flatMap((task) => freshRows(change, task));
  const rows = rowsOf(offered.filter(isNew));
  return {
    together: [
      ...forWorkers.together,
      ...rows.slice(0, room).map((put) => ({ put, when: "absent" }) as const),
    ],
    before: [
      ...forWorkers.before,
      ...rows.slice(room),
      ...rowsOf(offered.filter((task) => !isNew(task))),
    ],
  };
}

async function putPeople(world: World, instance: Instance, task: TaskTicket): Promise<void> {
  await putAll(world, userTaskRows(instance, task));
}

/** Together: a task may have dozens of rows, and a step a hundred such tasks. */
async function putAll(world: World, rows: readonly Item[]): Promise<void> {
  await Promise.all(rows.map((row) => putHint(world, row)));
}

/** Only its person is another: workers find it where it was. */
function isReassigned({ before }: Change, { id, person, attempt }: TaskTicket): boolean {
  const earlier = openTask(before, id);
  return earlier?.attempt === attempt && earlier.person?.turn !== person?.turn;
}
