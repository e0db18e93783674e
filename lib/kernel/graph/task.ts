import type { Variables } from "../../definition/json.ts";
import { isKeyName, KEY_NAME_RULE } from "../../definition/key-name.ts";
import { quoted } from "../../definition/parsed.ts";
import { isBatchItem } from "../batch.ts";
import { closeTicket, excerpt, openTicket, raiseIncident } from "../draft.ts";
import type { TaskFailed } from "../fact.ts";
import type { Assignment, TaskTicket } from "../instance.ts";
import { Refusal } from "../refusal.ts";
import { attemptAfter, retryTask } from "../retry.ts";
import { isUserTask } from "../user-task.ts";
import { noteOutcome, tokenFor } from "./batch-item.ts";
import { throwError, tryThrow } from "./error.ts";
import { demand } from "./evaluate.ts";
import { spotOf, taskAt } from "./plan.ts";
import { attempt, push, type Run, writeLocals } from "./run.ts";
import { type Token, tokenAt } from "./state.ts";
import { isFull, itemToken, stopItem } from "./stop-item.ts";
import { expected } from "./timer.ts";
import { assignmentFor } from "./user-task.ts";
import { lookupFrom, propagate } from "./variables.ts";

/** A task to open: its type, its attempts and, for a user task, its assignment. */
export type Order = Readonly<{ type: string; retries: number; person?: Assignment }>;

/** Computes the type, retries and assignment of a task. */
export async function orderOf(run: Run, token: Token): Promise<Order> {
  const task = taskAt(run.plan, token.node);
  const lookup = lookupFrom(run, token);
  const type = typed(await demand(run, { kind: "string", of: task.type, lookup }));
  const retries = await demand(run, { kind: "integer", of: task.retries, lookup });
  const person = task.person && (await assignmentFor(run, token, task.person));
  return { type, retries, ...(person && { person }) };
}

/** The type is part of a key. */
function typed(type: string): string {
  if (isKeyName(type)) return type;
  throw new Refusal("EXTRACT_VALUE_ERROR", `The type of a task ${KEY_NAME_RULE}: ${quoted(type)}.`);
}

/** Opens the task; one without any attempt is an incident instead. */
export function offer(run: Run, token: Token, order: Order): void {
  const here = { ref: token.id, element: token.node };
  if (order.retries > 0) openTicket(run.draft, { on: "task", ...here, ...order, attempt: 1 });
  else noRetries(run, token, { message: `The task may be tried ${order.retries} times.` });
}

/** After its incident was resolved: a new ticket, with the given number of attempts or the model's. */
export async function offerAgain(run: Run, token: Token, retries?: number): Promise<void> {
  const order = await orderOf(run, token);
  offer(run, token, { ...order, retries: retries ?? order.retries });
}

/** Takes the result of a task. */
export function takeResult(run: Run, token: Token, values: Variables): void {
  // With output mappings only these see the raw result; without, it is propagated.
  if (spotOf(run.plan, token.node).outputs.length > 0) writeLocals(run, token.id, values);
  else propagate(run, token, values);
}

/** A worker or handler completed the task. */
export function taskCompleted(run: Run, ticket: TaskTicket, variables: Variables): void {
  noteOutcome(run, "task-completed", ticket);
  const id = tokenFor(run, ticket);
  takeResult(run, tokenAt(run, id), variables);
  push(run, "complete", id);
}

/** The task failed: a code is thrown as an error, anything else uses up an attempt. */
export async function taskFailed(run: Run, ticket: TaskTicket, fact: TaskFailed): Promise<void> {
  const { draft } = run;
  const { code, variables } = fact;
  const message = excerpt(fact.message);
  noteOutcome(run, "task-failed", ticket, {
    message,
    attempt: fact.attempt,
    ...(code && { code }),
  });
  if (isBatchItem(ticket)) return memberFailed(run, ticket, { ...fact, message });
  const token = tokenAt(run, ticket.ref);
  if (code !== undefined) {
    closeTicket(draft, ticket.id);
    await attempt(run, { token, phase: "run" }, async () =>
      throwError(run, token, { code, message, ...(variables && { variables }) }),
    );
    return;
  }
  if (variables) writeLocals(run, token.id, variables);
  const { backoff } = taskAt(run.plan, token.node);
  if (!isUserTask(ticket) && expected(retryTask(draft, ticket, fact, backoff))) return;
  closeTicket(draft, ticket.id);
  noRetries(run, token, { ...fact, message });
}

/**
 * An item of a batch that is retried at the reporter's request leaves the batch with a ticket of
 * its own; one that failed for good is stopped.
 */
function memberFailed(
  run: Run,
  ticket: TaskTicket & Readonly<{ member: number }>,
  fact: TaskFailed,
): void {
  const { draft } = run;
  const { code, message, variables } = fact;
  const body = tokenAt(run, ticket.ref);
  if (code !== undefined) {
    const why = tryThrow(run, body, { code, message, ...(variables && { variables }) });
    if (why) stopItem(run, ticket, why, variables);
    return;
  }
  const { backoff } = taskAt(run.plan, body.node);
  const next = expected(attemptAfter(draft.now, ticket, fact, backoff));
  if (next === undefined || isFull(run)) {
    stopItem(run, ticket, { type: "JOB_NO_RETRIES", message }, variables);
    return;
  }
  const { type, element } = ticket;
  const ref = itemToken(run, ticket, variables);
  openTicket(draft, { on: "task", ref, element, type, ...next });
}

type Why = Pick<TaskFailed, "message" | "name" | "stack">;

function noRetries({ draft }: Run, { id, node }: Token, { message, name, stack }: Why): void {
  raiseIncident(draft, {
    type: "JOB_NO_RETRIES",
    message,
    ...(name !== undefined && { name }),
    ...(stack !== undefined && { stack }),
    ref: id,
    element: node,
    phase: "run",
  });
}
