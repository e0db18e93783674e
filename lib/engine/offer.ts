/** Rows by which those who complete tasks from outside find them. */
import type { Instance, TaskTicket } from "../kernel/instance.ts";
import { isForPeople } from "../kernel/person.ts";
import type { Item } from "../ports/store.ts";
import { encodeBody } from "./formats.ts";
import { putHint } from "./hint.ts";
import { offerKey, offersView } from "./keys.ts";
import { freshRows, peopleRows } from "./people/rows.ts";
import type { Plan } from "./plan.ts";
import type { World } from "./world.ts";

/**
 * The row of an open task. Its version is that of the instance as it was put for: whoever wants it
 * gone may then say which one, and one that was put anew meanwhile stays.
 */
function offerOf(instance: Instance, task: TaskTicket): Item {
  const key = offerKey(instance.tenant, instance.id, task);
  const body = encodeBody("offer", { i: instance.id, k: task.id });
  const listed = { view: offersView(instance.tenant), order: key.sk.slice(2) };
  return { key, version: instance.version, body, listed };
}

/** Puts every row of an open task: for workers, and for people. */
export async function putOffers(
  world: Pick<World, "store" | "clock">,
  instance: Instance,
  task: TaskTicket,
): Promise<void> {
  for (const row of offersOf(instance, task)) await putHint(world, row);
}

const offersOf = (instance: Instance, task: TaskTicket): readonly Item[] => [
  ...offersByType(instance, task),
  ...peopleRows(instance, task),
];

/** The rows that a step owes for a task: all but what leads people to it already. */
export const newOffersOf = (plan: Plan, task: TaskTicket): readonly Item[] => [
  ...offersByType(plan.image.instance, task),
  ...freshRows(plan, task),
];

const offersByType = (instance: Instance, task: TaskTicket): readonly Item[] =>
  isForPeople(task) ? [] : [offerOf(instance, task)];
