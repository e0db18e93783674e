/**
 * Attempts of batch items. They live in the messages that ask for them: after a failure that is
 * followed by another attempt one message replaces the other, and the instance does not change. Only
 * a final failure is a fact of the instance. When an attempt is due is a rule of `kernel/retry.ts`.
 */

import { batchOf, isOfCalls } from "../../kernel/batch.ts";
import type { TicketFact } from "../../kernel/fact.ts";
import type { Instance, TaskTicket } from "../../kernel/instance.ts";
import { attemptAfter, retriesAfter } from "../../kernel/retry.ts";
import type { TaskMessage } from "../../ports/message.ts";
import { taskMessage } from "../step/task-message.ts";
import type { World } from "../world.ts";

/** The task as its message asks for it: which attempt of a batch item it is, only the message knows. */
export function asAskedFor(task: TaskTicket, message: TaskMessage): TaskTicket {
  if (task.member === undefined) return task;
  const { attempt, retries = task.retries, notBefore } = message;
  return { ...task, attempt, retries, ...(notBefore !== undefined && { notBefore }) };
}

/** The message of the attempt that follows the failure of an item; undefined: it is final. */
export function nextAttemptOf(
  { clock }: Pick<World, "clock">,
  instance: Instance,
  task: TaskTicket,
  fact: TicketFact,
): TaskMessage | undefined {
  if (task.member === undefined || fact.kind !== "task-failed" || fact.code !== undefined) {
    return undefined;
  }
  const family = batchOf(instance.tickets, task.id)?.batch;
  const backoff = family && !isOfCalls(family) ? family.backoff : undefined;
  const next = attemptAfter(clock.now(), task, fact, backoff);
  if (!next.ok || next.value === undefined) return undefined;
  const { notBefore: _, ...kept } = task;
  return taskMessage(instance, { ...kept, ...next.value });
}

/**
 * The final failure of an item: it says how many attempts are left, which the instance cannot know.
 * That is none, unless its backoff cannot be read: then the instance finds the same, and says so.
 */
export const forGood = (task: TaskTicket, fact: TicketFact): TicketFact =>
  task.member !== undefined && fact.kind === "task-failed"
    ? { ...fact, retries: retriesAfter(task, fact) }
    : fact;
