/** How tasks are handed out: by a message to who runs them here, or by a row to who finds them. */
import type { Instance, TaskTicket } from "../kernel/instance.ts";
import type { TaskMessage } from "../ports/message.ts";
import type { Item } from "../ports/store.ts";
import { encodeBody } from "./formats.ts";
import { offerKey, offersView } from "./keys.ts";

/** The row of an open task; putting it again changes nothing. */
export function offerOf(instance: Instance, task: TaskTicket): Item {
  const key = offerKey(instance.tenant, instance.id, task);
  const body = encodeBody("offer", { i: instance.id, k: task.id });
  const listed = { view: offersView(instance.tenant), order: key.sk.slice(2) };
  return { key, version: 1, body, listed };
}

/** The message that asks for an attempt of a task. */
export function taskMessage(instance: Instance, task: TaskTicket): TaskMessage {
  return {
    kind: "task",
    tenant: instance.tenant,
    instanceId: instance.id,
    ticket: task.id,
    attempt: task.attempt,
    type: task.type,
    ...(task.notBefore !== undefined && { notBefore: task.notBefore }),
    ...(task.member !== undefined && { retries: task.retries }),
  };
}
