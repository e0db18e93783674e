/**
 * A task came to a host that does not run its type any more: from now on it is offered outside.
 *
 * The same message may be at work elsewhere, where its type still runs, and what follows there is
 * owed under its name. So the message goes only after the ticket says that it was handed back:
 * 1. Whoever had begun to run it finds that out by the conflict, and parks the outcome.
 * 2. Whoever begins later runs it only for a message that was sent since, and knows this hand-back.
 * 3. The outcome of a family's member is always parked: nothing is owed under its message's name.
 */
import { MAX_TRIES_OF_PARKED } from "../../definition/limits.ts";
import type { Instance, TaskTicket } from "../../kernel/instance.ts";
import type { Invocation, TaskMessage, Verdict } from "../../ports/message.ts";
import { offerAnew } from "../rows/offer.ts";
import { openTask } from "../rows/open-tickets.ts";
import { commit } from "../step/commit.ts";
import { handBackOf } from "../step/owed.ts";
import { planWrite } from "../step/plan.ts";
import { redeliver } from "../step/redelivery.ts";
import { attemptName, HANDED_BACK } from "../storage/names.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";

/** Offers the task that a message brought, then lets the message go. */
export async function handBack(
  world: World,
  found: Image,
  brought: TaskTicket,
  invocation: Invocation,
): Promise<Verdict> {
  const { id, attempt, member } = brought;
  if (member !== undefined) {
    await offerAnew(world, found.instance, brought);
    return "release";
  }
  const name = attemptName(id, attempt);
  let image = found;
  for (let tries = 0; tries < MAX_TRIES_OF_PARKED; tries++) {
    const { instance, program } = image;
    const task = openTask(instance, id);
    if (task?.attempt !== attempt) return redeliver(world, image, name, invocation, "task");
    const stamp = { by: HANDED_BACK, own: invocation.id, until: world.clock.now() };
    const after = { ...instance, tickets: instance.tickets.map(restamped(task, stamp)) };
    const outcome = await commit(world, planWrite(world, program, instance, after), invocation.id);
    if (outcome.kind === "busy") return { keepForMs: outcome.retryAfterMs };
    if (outcome.kind === "committed") {
      await offerAnew(world, outcome.image.instance, task);
      return "release";
    }
    if (outcome.kind === "conflict" && outcome.current === undefined) return "release";
    if (outcome.kind === "conflict" && outcome.current) image = outcome.current;
  }
  return CONTENDED;
}

/**
 * Whether a message is from before its task was handed back. Whoever did that lets the message go:
 * what came of it under its name would be owed by nobody.
 */
export function isVoid(task: TaskTicket, { handedBackBy }: TaskMessage): boolean {
  const last = handBackOf(task);
  return last !== undefined && last !== handedBackBy;
}

/** Whether a message still owns what comes of its task: no other attempt, no hand-back meanwhile. */
export function isUntouched({ instance }: Image, task: TaskTicket): boolean {
  const open = openTask(instance, task.id);
  if (open === undefined || open.member !== undefined) return true;
  return open.attempt === task.attempt && handBackOf(open) === handBackOf(task);
}

const restamped =
  (task: TaskTicket, stamp: NonNullable<TaskTicket["stamp"]>) =>
  (ticket: Instance["tickets"][number]): Instance["tickets"][number] =>
    ticket === task ? { ...task, stamp } : ticket;

const CONTENDED: Verdict = { keepForMs: 100 };
