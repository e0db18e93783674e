/**
 * Attempts of a family's members. They live in the messages that ask for them: a failure that is
 * followed by another attempt is a message for a message, and the instance hears nothing of it. Only
 * when none is left the instance is told. When an attempt is due is a rule of `kernel/retry.ts`.
 */

import { batchOf, isOfCalls } from "../../kernel/batch.ts";
import type { TicketFact } from "../../kernel/fact.ts";
import type { Instance, TaskTicket } from "../../kernel/instance.ts";
import { attemptAfter, retriesAfter } from "../../kernel/retry.ts";
import type { TaskMessage } from "../../ports/message.ts";
import { taskMessage } from "../step/task-message.ts";
import type { World } from "../world.ts";

/** The task as its message asks for it: which attempt of a member it is, only the message knows. */
export function asAskedFor(task: TaskTicket, message: TaskMessage): TaskTicket {
  if (task.member === undefined) return task;
  const { attempt, retries = task.retries, notBefore } = message;
  return { ...task, attempt, retries, ...(notBefore !== undefined && { notBefore }) };
}

/** The message of the attempt that follows a member's failure; undefined: tell the instance. */
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
 * What the instance is told of a member's failure: how many attempts are left, which it cannot know.
 * That is none, unless its backoff cannot be read: then the instance finds the same, and says so.
 */
export const forGood = (task: TaskTicket, fact: TicketFact): TicketFact =>
  task.member !== undefined && fact.kind === "task-failed"
    ? { ...fact, retries: retriesAfter(task, fact) }
    : fact;
