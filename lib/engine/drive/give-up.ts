/**
 * What becomes of a message that was delivered as often as its queue allows, and never done with.
 *
 * 1. A task's attempt has failed, and its retries, its boundary events or an incident go on from
 *    there. Where its ticket is gone the step was taken, and only what it owes is sent.
 * 2. Every other kind is handled as ever, except that nothing is decided: what the message brings is
 *    kept by an incident at its instance, under `aside`. So is a task whose failure cannot be taken
 *    in either.
 */
import type { TicketFact } from "../../kernel/fact.ts";
import type { TaskTicket } from "../../kernel/instance.ts";
import type { Invocation, Message, Verdict } from "../../ports/message.ts";
import { offerAnew } from "../rows/offer.ts";
import { openTask } from "../rows/open-tickets.ts";
import { commitAndSend } from "../step/commit-and-send.ts";
import { send } from "../step/dispatch.ts";
import { asideOf } from "../step/guarded.ts";
import { redeliver } from "../step/redelivery.ts";
import { attemptName } from "../storage/names.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { asAskedFor, forGood, nextAttemptOf } from "./attempts.ts";
import { claimLeftMs, inDoubt } from "./claim.ts";
import { isItemClaimed, itemClaimLeftMs } from "./claim-item.ts";
import { hasLost, loadOrCreate } from "./creation.ts";
import { handBack, isUntouched, isVoid } from "./hand-back.ts";
import { handle } from "./handle.ts";
import { setTaskAside } from "./set-task-aside.ts";

/** One message, one verdict; one that came too often runs no code of the user. */
export const receive = (
  world: World,
  message: Message,
  invocation: Invocation,
): Promise<Verdict> => {
  if (invocation.aside !== undefined && message.kind === "task") {
    return giveUp(world, message, invocation);
  }
  return handle(asideOf(world, invocation), message, invocation);
};

export async function giveUp(
  given: World,
  message: Message,
  invocation: Invocation,
): Promise<Verdict> {
  const world = asideOf(given, invocation);
  if (message.kind !== "task") return receive(world, message, invocation);
  const image = await loadOrCreate(world, message.instanceId, message.start);
  if (image === undefined || hasLost(image.instance, message.start)) return "release";
  const open = openTask(image.instance, message.ticket);
  const task = open && asAskedFor(open, message);
  if (task === undefined || task.attempt !== message.attempt) {
    const name = attemptName(message.ticket, message.attempt);
    return redeliver(world, image, name, invocation, "task");
  }
  if (isVoid(task, message)) {
    await offerAnew(world, image.instance, task);
    return "release";
  }
  // It came back so often because nobody here runs it any more, or it was early: it did not fail.
  if (world.tasks.handlerOf(task.type) === undefined) {
    return handBack(world, image, task, invocation);
  }
  if ((task.notBefore ?? 0) > world.clock.now()) {
    await send(world, image.instance, { tickets: [task], outbox: [] });
    return "release";
  }
  const forMs =
    task.member === undefined
      ? claimLeftMs(world, task)
      : await itemClaimLeftMs(world, image, task);
  if (forMs > 0) return { keepForMs: forMs };
  if (world.aside !== undefined) return setTaskAside(world, { image, task }, invocation);
  return fail(world, image, task, invocation);
}

async function fail(
  world: World,
  image: Image,
  task: TaskTicket,
  invocation: Invocation,
): Promise<Verdict> {
  const name = attemptName(task.id, task.attempt);
  const isClaimed =
    task.member === undefined ? task.claim !== undefined : await isItemClaimed(world, image, task);
  const failed = isClaimed ? inDoubt(task) : undeliverable(world, task);
  const again = nextAttemptOf(world, image.instance, task, failed);
  if (again) {
    await world.tasks.send(again);
    return "release";
  }
  const fact = forGood(task, failed);
  const mine = (current: Image) => isUntouched(current, task);
  return commitAndSend(world, image, { name, fact }, invocation, { mine });
}

/** What an attempt failed with that was handed out too often. */
export const UNDELIVERABLE =
  "The task could not be delivered: it was handed out again and again, and no run of it came to an end. Its handler may crash its host, need more memory than there is, or overrun its time; or there was never room to run it, because functions are throttled.";

function undeliverable(world: World, task: TaskTicket): TicketFact {
  const retryAfterMs = world.tasks.handlerOf(task.type)?.backoffMs?.(task.attempt);
  return {
    kind: "task-failed",
    ticket: task.id,
    attempt: task.attempt,
    message: UNDELIVERABLE,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}
