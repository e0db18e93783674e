/**
 * Direct drive: the invocation that holds a task's outcome runs the step, and may run the next short
 * task right away, each under its own commit.
 *
 * 1. The trigger stays queued until everything that its steps owe has left.
 * 2. `by` is the trigger's name for every step of the invocation: it is the message that the
 *    queue will bring back.
 * 3. Only the invocation that consumed its own trigger's ticket goes on in place.
 * 4. When a conflict shows that another owner drives our next ticket, we park what we hold, stop,
 *    and leave the trigger to that owner.
 */
import { LEASE_RESERVE_MS, MAX_MS_IN_PLACE, MAX_STEPS_IN_PLACE } from "../../definition/limits.ts";
import type { TaskTicket } from "../../kernel/instance.ts";
import type { Invocation, TaskMessage, Verdict } from "../../ports/message.ts";
import { offerAnew } from "../rows/offer.ts";
import { openTask, runsHere } from "../rows/open-tickets.ts";
import { afterCommit, send } from "../step/dispatch.ts";
import type { Plan } from "../step/plan.ts";
import { dropSentRecords, redeliver } from "../step/redelivery.ts";
import { attemptName } from "../storage/names.ts";
import type { World } from "../world.ts";
import { hasLost, loadOrCreate } from "./creation.ts";
import { type Attempt, handBack, isVoid } from "./hand-back.ts";
import { asAskedFor, type Drive, type Position } from "./report.ts";
import { runTask } from "./run-task.ts";

/** A task message: runs the task that it names, then what follows from it. */
export async function driveTask(
  world: World,
  message: TaskMessage,
  invocation: Invocation,
): Promise<Verdict> {
  const asked = await openAttempt(world, message, invocation);
  if ("verdict" in asked) return asked.verdict;
  const earlyMs = (asked.task.notBefore ?? 0) - world.clock.now();
  if (earlyMs > 0) return { keepForMs: earlyMs };
  const trigger = attemptName(message.ticket, message.attempt);
  return driveFrom({ world, trigger, invocation }, { ...asked, sent: new Set(), step: 1 });
}

/** The attempt that a message asks for; or the verdict, where there is no such attempt to run. */
export async function openAttempt(
  world: World,
  message: TaskMessage,
  invocation: Invocation,
): Promise<Attempt | Readonly<{ verdict: Verdict }>> {
  const image = await loadOrCreate(world, message.instanceId, message.start);
  if (image === undefined || hasLost(image.instance, message.start)) return { verdict: "release" };
  const open = openTask(image.instance, message.ticket);
  const task = open && asAskedFor(open, message);
  if (task === undefined || task.attempt !== message.attempt) {
    const name = attemptName(message.ticket, message.attempt);
    return { verdict: await redeliver(world, image, { name, fact: "task" }, invocation) };
  }
  if (!isVoid(task, message)) return { image, task };
  await offerAnew(world, image.instance, task);
  return { verdict: "release" };
}

async function driveFrom(drive: Drive, start: Position): Promise<Verdict> {
  const { world, invocation } = drive;
  const startedAt = world.clock.now();
  let position = start;
  for (;;) {
    const { image, task, step } = position;
    const handler = world.tasks.handlerOf(task.type);
    // The handler is gone since the task was sent: it waits like every task that no handler runs.
    if (handler === undefined) return handBack(world, image, task, invocation);
    // Where queues last, an invocation that ends before the task does is killed, and so is the next:
    // the timeout of the task has grown, and it belongs into another queue.
    const endsAt = world.clock.now() + handler.timeoutMs;
    if (step === 1 && world.settings.host.queuesSurvive && endsAt > invocation.until) {
      await send(world, image.instance, { tickets: [task], outbox: [] });
      return "release";
    }
    const ran = await runTask(drive, position, handler);
    if (ran === "release" || "keepForMs" in ran) return ran;
    const isInTime = world.clock.now() - startedAt < MAX_MS_IN_PLACE;
    const next = isInTime ? nextInPlace(drive, ran, step) : undefined;
    const sent = await afterCommit(world, ran, { keep: next });
    if (next === undefined) return dropSentRecords(world, ran.image, sent, invocation.id);
    position = { image: ran.image, task: next, sent, step: step + 1 };
  }
}

/** The one short task that may run in place once all else has left; the lease must outlast it. */
function nextInPlace(
  { world, invocation: { mayContinue, until } }: Drive,
  { fresh }: Plan,
  step: number,
): TaskTicket | undefined {
  if (!mayContinue || step >= MAX_STEPS_IN_PLACE) return undefined;
  const [only, ...others] = fresh.tickets.filter((ticket) => runsHere(world, ticket));
  if (only === undefined || others.length > 0) return undefined;
  const handler = world.tasks.handlerOf(only.type);
  const now = world.clock.now();
  if (handler === undefined || handler.isolate || (only.notBefore ?? 0) > now) return undefined;
  return now + handler.timeoutMs + LEASE_RESERVE_MS <= until ? only : undefined;
}
