/** Rows by which those who complete tasks from outside find them. */
import type { Instance, TaskTicket } from "../kernel/instance.ts";
import { isForPeople } from "../kernel/person.ts";
import type { Item } from "../ports/store.ts";
import { encodeBody } from "./formats.ts";
import { offerKey, offersView } from "./keys.ts";
import { freshRows, peopleRows } from "./people/rows.ts";
import type { Plan } from "./plan.ts";

/** The row of an open task; putting it again changes nothing. */
function offerOf(instance: Instance, task: TaskTicket): Item {
  const key = offerKey(instance.tenant, instance.id, task);
  const body = encodeBody("offer", { i: instance.id, k: task.id });
  const listed = { view: offersView(instance.tenant), order: key.sk.slice(2) };
  return { key, version: 1, body, listed };
}

/** Every row of an open task: for workers, and for people. */
export const offersOf = (instance: Instance, task: TaskTicket): readonly Item[] => [
  ...offersByType(instance, task),
  ...peopleRows(instance, task),
];

/** The same, without what leads people to it already. */
export const newOffersOf = (plan: Plan, task: TaskTicket): readonly Item[] => [
  ...offersByType(plan.image.instance, task),
  ...freshRows(plan, task),
];

const offersByType = (instance: Instance, task: TaskTicket): readonly Item[] =>
  isForPeople(task) ? [] : [offerOf(instance, task)];
