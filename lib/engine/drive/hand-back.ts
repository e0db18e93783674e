/**
 * A task that its message does not run: its type is not run here any more, and it is offered outside;
 * or its run has ended badly too often, and it stands at an incident.
 *
 * The same message may be at work elsewhere, where its type still runs, and what follows there is
 * owed under its name. So the message goes only after the ticket says that it was handed back:
 * 1. An invocation that had begun to run it finds that out by the conflict, and parks the outcome.
 * 2. One that begins later runs it only for a message that was sent since, and knows this hand-back.
 * 3. The outcome of a batch item is always parked: nothing is owed under its message's name.
 */
import type { TicketFact } from "../../kernel/fact.ts";
import type { Instance, TaskTicket } from "../../kernel/instance.ts";
import type { Invocation, TaskMessage, Verdict } from "../../ports/message.ts";
import { offerAnew } from "../rows/offer.ts";
import { openTask } from "../rows/open-tickets.ts";
import { takeFact } from "../step/commit-and-send.ts";
import { rewrite } from "../step/commit-with-retry.ts";
import { handBackOf } from "../step/owed.ts";
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
  const lease = { trigger: HANDED_BACK, owner: invocation.id, expiresAt: world.clock.now() };
  let task: TaskTicket | undefined;
  const handedBack = (instance: Instance): Instance => {
    task = openTask(instance, id);
    if (task?.attempt !== attempt) return instance;
    const leased = { ...task, lease };
    return { ...instance, tickets: instance.tickets.map((it) => (it === task ? leased : it)) };
  };
  const result = await rewrite(world, found, invocation.id, handedBack);
  if (result.kind === "contended") return { keepForMs: result.retryAfterMs };
  if (result.kind !== "settled") {
    const returned = { name: attemptName(id, attempt), fact: "task" } as const;
    return redeliver(world, result.image, returned, invocation);
  }
  if (task) await offerAnew(world, result.image.instance, task);
  return "release";
}

/** An open attempt at a task. */
export type Attempt = Readonly<{ image: Image; task: TaskTicket }>;

/** Sets a task aside: `world` says why. Resolving the incident fails this attempt, and begins another. */
export function setTaskAside(
  world: World,
  asked: Attempt,
  invocation: Invocation,
): Promise<Verdict> {
  const { id: ticket, attempt, retries } = asked.task;
  const message = `The attempt was given up: ${world.aside ?? "it never came to an end"}.`;
  const left = { retries: Math.max(1, retries - 1) };
  const fact = { kind: "task-failed", ticket, attempt, message, ...left } as const;
  return takeAttempt(world, asked, fact, invocation);
}

/** Takes the end of an attempt that this message still owns. */
export const takeAttempt = (
  world: World,
  { image, task }: Attempt,
  fact: TicketFact,
  invocation: Invocation,
): Promise<Verdict> => {
  const mine = (current: Image) => isUntouched(current, task);
  const name = attemptName(task.id, task.attempt);
  return takeFact(world, image, { name, fact }, { invocation, mine });
};

/**
 * Whether a message is from before its task was handed back. The invocation that did that lets the
 * message go: no trigger would owe what came of it under its name.
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
