import { isInstanceId } from "../../definition/instance-id.ts";

/** How triggers are named: by what they want to consume, so that a redelivery can be recognised. */
export const attemptName = (ticket: string, attempt: number): string => `${ticket}/${attempt}`;

/** What a broadcast, or a message to a wait that stays open, is called at that wait. */
export const deliveryName = (ticket: string, which: string | number): string =>
  `${ticket}@${which}`;

/** What a claim of a user task is called, or the end of one. */
export const turnName = (ticket: string, turn: number): string => `${ticket}!${turn}`;

/** A start's own trigger. */
export const START = "start";

/** Stands for the trigger of a task that was handed back: its row finds it, and no message. */
export const HANDED_BACK = "handed-back";

/** The public id of a task, or of an item of a multi-instance batch; the ticket has a dot too. */
export const taskIdOf = (instanceId: string, ticket: string): string => `${instanceId}.${ticket}`;

/** Whose task it is; undefined when no task can be called so. */
export function parseTaskId(taskId: string): { instanceId: string; ticket: string } | undefined {
  const [, instanceId, ticket] = /^([^.]+)\.(k\d+\.\d+|f\d+\.\d+#\d{1,9})$/.exec(taskId) ?? [];
  return isInstanceId(instanceId) && ticket !== undefined ? { instanceId, ticket } : undefined;
}

/** The same for every attempt at a task, and for no other task. */
export const idempotencyKeyOf = (instanceId: string, ticket: string): string =>
  `${instanceId}:${ticket}`;
