/** A task that nobody here runs is offered to whoever may do it: to workers, to people, or to both. */
import type { Instance, TaskTicket, Ticket } from "../kernel/instance.ts";
import { isForPeople } from "../kernel/person.ts";
import type { Item } from "../ports/store.ts";
import { storeLimits } from "../ports/store-rules.ts";
import { putHint } from "./hint.ts";
import { isTask, openTask, runsHere } from "./owed.ts";
import { freshRows, peopleRows } from "./people/rows.ts";
import type { Plan } from "./plan.ts";
import { type Offers, offersOf, offerTask, showTask } from "./workers/offer-task.ts";
import { putRowAnew } from "./workers/rows.ts";
import type { World } from "./world.ts";

/** Offers a task after its commit, or again. */
export async function offer(
  world: World,
  instance: Instance,
  task: TaskTicket,
  how: "first" | "again",
): Promise<void> {
  if (!isForPeople(task)) await offerTask(world, instance, task, how);
  await putPeople(world, instance, task);
}

/** Offers it anew, whatever row there is. */
export async function offerAnew(world: World, instance: Instance, task: TaskTicket): Promise<void> {
  if (!isForPeople(task)) await putRowAnew(world, instance, task);
  await putPeople(world, instance, task);
}

/** What a door does for those who look in the next moment. */
export async function showOffer(world: World, plan: Plan, task: TaskTicket): Promise<void> {
  if (!isForPeople(task) && !isReassigned(plan, task)) await showTask(world, plan, task);
  await putAll(world, freshRows(plan, task));
}

/** Rows that a commit writes with the instance, and rows that are put before it. */
export async function offersIn(world: World, plan: Plan): Promise<Offers> {
  const forWorkers = await offersOf(world, plan);
  if (!world.settings.volatileQueues) return forWorkers;
  const { before, fresh, companions } = plan;
  const offered = fresh.tickets.filter(isTask).filter((task) => !runsHere(world, task));
  const isNew = ({ id }: Ticket) => id.startsWith(`k${before.version + 1}.`);
  const taken = 1 + companions.length + forWorkers.together.length;
  const room = Math.max(0, storeLimits.writesPerCommit - taken);
  const rowsOf = (tasks: typeof offered) => tasks.flatMap((task) => freshRows(plan, task));
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
  await putAll(world, peopleRows(instance, task));
}

/** Together: a task may have dozens of rows, and a step a hundred such tasks. */
async function putAll(world: World, rows: readonly Item[]): Promise<void> {
  await Promise.all(rows.map((row) => putHint(world, row)));
}

/** Only its person is another: workers find it where it was. */
function isReassigned({ before }: Plan, { id, person, attempt }: TaskTicket): boolean {
  const earlier = openTask(before, id);
  return earlier?.attempt === attempt && earlier.person?.turn !== person?.turn;
}
