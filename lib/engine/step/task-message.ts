import type { Instance, TaskTicket } from "../../kernel/instance.ts";
import type { TaskMessage } from "../../ports/message.ts";
import { handBackOf } from "./owed.ts";

/** The message that asks for an attempt of a task; that of a batch item says how many are left. */
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
