/**
 * What becomes of a message that was delivered as often as its queue allows, and never done with.
 *
 * A task has somebody who is told: its attempt has failed, and its retries, its boundary events or
 * an incident go on from there. Where its ticket is gone the step was taken, and only what it owes
 * is sent. Everything else has no attempts that could be used up, and may be in nobody's hands but
 * this message's: it is handled once more, and stays where it is if that fails again.
 */
import type { TicketFact } from "../kernel/fact.ts";
import type { TaskTicket } from "../kernel/instance.ts";
import type { Invocation, Message, Verdict } from "../ports/message.ts";
import { claimLeftMs, inDoubt } from "./claim.ts";
import { hasLost, loadOrCreate } from "./creation.ts";
import { send } from "./dispatch.ts";
import { asAskedFor, forGood, nextAttemptOf } from "./families/attempts.ts";
import { isMemberClaimed, memberClaimLeftMs } from "./families/claim-member.ts";
import { handBack, isUntouched, isVoid } from "./hand-back.ts";
import { handle } from "./handle.ts";
import { attemptName } from "./names.ts";
import { offerAnew } from "./offer.ts";
import { openTask } from "./owed.ts";
import { redeliver } from "./redelivery.ts";
import { settleAndSend } from "./settle-and-send.ts";
import type { Image } from "./stored-instance.ts";
import type { World } from "./world.ts";

export async function giveUp(
  world: World,
  message: Message,
  invocation: Invocation,
): Promise<Verdict> {
  if (message.kind !== "task") return handle(world, message, invocation);
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
      : await memberClaimLeftMs(world, image, task);
  if (forMs > 0) return { keepForMs: forMs };
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
    task.member === undefined
      ? task.claim !== undefined
      : await isMemberClaimed(world, image, task);
  const failed = isClaimed ? inDoubt(task) : undeliverable(world, task);
  const again = nextAttemptOf(world, image.instance, task, failed);
  if (again) {
    await world.tasks.send(again);
    return "release";
  }
  const fact = forGood(task, failed);
  const mine = (current: Image) => isUntouched(current, task);
  return settleAndSend(world, image, { name, fact }, invocation, { mine });
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
