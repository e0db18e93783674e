/** How tasks are handed out: by a message to who runs them here, or by a row to who finds them. */
import type { Instance, TaskTicket } from "../kernel/instance.ts";
import type { TaskMessage } from "../ports/message.ts";
import type { Item } from "../ports/store.ts";
import { encodeBody } from "./formats.ts";
import { offerKey, offersView } from "./keys.ts";
import { handBackOf } from "./owed.ts";

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

/** The message that asks for an attempt of a task. */
export function taskMessage(instance: Instance, task: TaskTicket): TaskMessage {
  const handedBackBy = handBackOf(task);
  return {
    kind: "task",
    tenant: instance.tenant,
    instanceId: instance.id,
    ticket: task.id,
    attempt: task.attempt,
    type: task.type,
    ...(task.notBefore !== undefined && { notBefore: task.notBefore }),
    ...(handedBackBy !== undefined && { handedBackBy }),
    ...(task.member !== undefined && { retries: task.retries }),
  };
}
