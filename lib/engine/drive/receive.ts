/**
 * What becomes of a message that was delivered as often as its queue allows, without an end.
 *
 * 1. A task's attempt has failed: its retries, its boundary events or an incident follow. Where its
 *    ticket is gone the step was taken, and only what it owes is sent.
 * 2. Every other kind is handled as usual, but nothing is decided: an incident at its instance keeps
 *    what the message brings, under `aside`. So it does for a task whose failure cannot be taken.
 */
import type { Invocation, Message, Verdict } from "../../ports/message.ts";
import { send } from "../step/dispatch.ts";
import { asideOf } from "../step/guarded.ts";
import type { MessageOf, World } from "../world.ts";
import { claimOn, inDoubt } from "./claim.ts";
import { openAttempt } from "./drive.ts";
import { handBack, setTaskAside, takeAttempt } from "./hand-back.ts";
import { forGood, nextAttemptOf } from "./report.ts";
import { failedAttempt } from "./run-task.ts";

/** One message, one verdict; one that came too often runs no code of the user. */
export function receive(world: World, message: Message, invocation: Invocation): Promise<Verdict> {
  if (invocation.aside !== undefined && message.kind === "task") {
    return giveUp(world, message, invocation);
  }
  return handle(asideOf(world, invocation), message, invocation);
}

export async function giveUp(
  given: World,
  message: Message,
  invocation: Invocation,
): Promise<Verdict> {
  const world = asideOf(given, invocation);
  if (message.kind !== "task") return receive(world, message, invocation);
  const asked = await openAttempt(world, message, invocation);
  if ("verdict" in asked) return asked.verdict;
  const { image, task } = asked;
  const handler = world.tasks.handlerOf(task.type);
  // It came back so often because no handler runs it any more, or it was early: it did not fail.
  if (handler === undefined) return handBack(world, image, task, invocation);
  if ((task.notBefore ?? 0) > world.clock.now()) {
    await send(world, image.instance, { tickets: [task], outbox: [] });
    return "release";
  }
  const claimed = await claimOn(world, asked);
  if (claimed && claimed.leftMs > 0) return { keepForMs: claimed.leftMs };
  if (world.aside !== undefined) return setTaskAside(world, asked, invocation);
  const failure = { message: UNDELIVERABLE };
  const failed = claimed ? inDoubt(task) : failedAttempt(task, handler, failure);
  const retry = nextAttemptOf(world, image.instance, task, failed);
  if (retry === undefined) return takeAttempt(world, asked, forGood(task, failed), invocation);
  await world.tasks.send(retry);
  return "release";
}

/** What an attempt failed with that was handed out too often. */
export const UNDELIVERABLE =
  "The task could not be delivered: it was handed out again and again, and no run of it came to an end. Its handler may crash its host, need more memory than there is, or overrun its time; or there was never room to run it, because functions are throttled.";

/** One message, one verdict: "release" once nothing depends on the message any more. */
export function handle<Kind extends Message["kind"]>(
  world: World,
  message: { [Each in Kind]: MessageOf<Each> }[Kind],
  invocation: Invocation,
): Promise<Verdict> {
  const kind: Kind = message.kind;
  return world.handlers[kind](world, message, invocation);
}
