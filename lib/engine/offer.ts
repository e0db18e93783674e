/** Rows by which those who complete tasks from outside find them. */
import type { Instance, TaskTicket } from "../kernel/instance.ts";
import type { Item } from "../ports/store.ts";
import { encodeBody } from "./formats.ts";
import { offerKey, offersView } from "./keys.ts";

/**
 * The row of an open task. Its version is that of the instance as it was put for: whoever wants it
 * gone may then say which one, and one that was put anew meanwhile stays.
 */
export function offerOf(instance: Instance, task: TaskTicket): Item {
  const key = offerKey(instance.tenant, instance.id, task);
  const body = encodeBody("offer", { i: instance.id, k: task.id });
  const listed = { view: offersView(instance.tenant), order: key.sk.slice(2) };
  return { key, version: instance.version, body, listed };
}
