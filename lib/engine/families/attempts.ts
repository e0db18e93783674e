/**
 * Attempts of a family's members. They live in the messages that ask for them: a failure that is
 * followed by another attempt is a message for a message, and the instance hears nothing of it. Only
 * when none is left the failure is told, and then it is for good.
 */
import { addDuration, parseDuration } from "../../definition/time/duration.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { TaskFailed, TicketFact } from "../../kernel/fact.ts";
import { isOfCalls, kinOf } from "../../kernel/family.ts";
import type { Instance, TaskTicket } from "../../kernel/instance.ts";
import type { TaskMessage } from "../../ports/message.ts";
import { taskMessage } from "../task-message.ts";
import type { World } from "../world.ts";

/** The task as its message asks for it: which attempt of a member it is, only the message knows. */
export function asAskedFor(task: TaskTicket, message: TaskMessage): TaskTicket {
  if (task.member === undefined) return task;
  const { attempt, retries = task.retries, notBefore } = message;
  return { ...task, attempt, retries, ...(notBefore !== undefined && { notBefore }) };
}

/** The message of the attempt that follows a member's failure; undefined: tell the instance. */
export function nextAttemptOf(
  world: World,
  instance: Instance,
  task: TaskTicket,
  fact: TicketFact,
): TaskMessage | undefined {
  if (task.member === undefined || fact.kind !== "task-failed" || fact.code !== undefined) {
    return undefined;
  }
  const retries = fact.retries ?? task.retries - 1;
  if (retries < 1) return undefined;
  const { notBefore: _, ...next } = { ...task, attempt: task.attempt + 1, retries };
  const due = dueAfter(world, instance, task, fact);
  const isLater = due > world.clock.now();
  return taskMessage(instance, { ...next, ...(isLater && { notBefore: due }) });
}

/** What is told of a member's failure: that no attempt is left. */
export const forGood = (task: TaskTicket, fact: TicketFact): TicketFact =>
  task.member !== undefined && fact.kind === "task-failed" ? { ...fact, retries: 0 } : fact;

function dueAfter(
  world: World,
  { tickets }: Instance,
  { id }: TaskTicket,
  { retryAfterMs }: TaskFailed,
): Instant {
  const now = world.clock.now();
  if (retryAfterMs !== undefined) return instantFrom(now + retryAfterMs);
  const family = kinOf(tickets, id)?.family;
  if (family === undefined || isOfCalls(family) || family.backoff === undefined) return now;
  const backoff = parseDuration(family.backoff);
  return backoff.ok ? addDuration(now, backoff.value) : now;
}
