/** Runs the handler of one task, watched and, where it is exclusive, claimed; then reports. */
import { instantFrom } from "../../definition/time/instant.ts";
import type { TicketFact } from "../../kernel/fact.ts";
import type { TaskTicket } from "../../kernel/instance.ts";
import type { Verdict } from "../../ports/message.ts";
import type { TaskHandler, TaskOutcome } from "../../ports/tasks.ts";
import { CONTENDED_MS } from "../step/commit-with-retry.ts";
import { diedWith, taskStepName } from "../step/guarded.ts";
import { taskMessage } from "../step/owed.ts";
import { dropSentRecords, redeliver } from "../step/redelivery.ts";
import { idempotencyKeyOf, taskIdOf } from "../storage/names.ts";
import { type Claimed, claim, unclaim } from "./claim.ts";
import { type Attempt, setTaskAside } from "./hand-back.ts";
import { type Drive, leftToOwner, type Position, type Ran, report } from "./report.ts";

export async function runTask(
  drive: Drive,
  position: Position,
  handler: TaskHandler,
): Promise<Ran> {
  const { world, invocation } = drive;
  const { image, task } = position;
  const step = { instanceId: image.instance.id, name: taskStepName(task), isTask: true } as const;
  const watched = world.watch?.begin(step);
  if (watched?.kind === "later") return leaveToQueue(drive, position, watched.forMs);
  if (watched?.kind === "poisoned") {
    const aside = diedWith(watched.deaths);
    return setTaskAside({ ...world, aside }, position, invocation);
  }
  try {
    return await runWatched(drive, position, handler);
  } finally {
    watched?.end();
  }
}

async function runWatched(drive: Drive, position: Position, handler: TaskHandler): Promise<Ran> {
  const { world, trigger, invocation } = drive;
  const claimed: Claimed = handler.exclusive
    ? await claim(drive, position)
    : { kind: "claimed", image: position.image };
  switch (claimed.kind) {
    case "claimed":
      return runClaimed(drive, { ...position, image: claimed.image }, handler);
    case "in-doubt":
      return report(drive, position, claimed.fact);
    case "held":
      return { keepForMs: claimed.forMs };
    case "gone":
      return redeliver(world, claimed.image, { name: trigger, fact: "task" }, invocation);
    case "contended":
      return leaveToQueue(drive, position, CONTENDED_MS);
    case "overtaken":
      return leftToOwner(drive, position);
  }
}

async function runClaimed(drive: Drive, position: Position, handler: TaskHandler): Promise<Ran> {
  const { task } = position;
  const outcome = await run(position, handler);
  if (outcome.kind !== "not-run") return report(drive, position, factOf(task, handler, outcome));
  const unclaimed = await unclaim(drive.world, position, drive.invocation.id);
  return leaveToQueue(drive, { ...position, image: unclaimed }, outcome.retryAfterMs);
}

/** Nothing was run: the task's own message comes back later. One that runs in place has none yet. */
async function leaveToQueue(
  { world, invocation }: Drive,
  { image, task, sent, step }: Position,
  afterMs: number,
): Promise<Verdict> {
  if (step === 1) return { keepForMs: afterMs };
  const notBefore = instantFrom(world.clock.now() + afterMs);
  await world.tasks.send({ ...taskMessage(image.instance, task), notBefore });
  return dropSentRecords(world, image, sent, invocation.id);
}

function run({ image, task }: Attempt, handler: TaskHandler): Promise<TaskOutcome> {
  const { instance, program } = image;
  const { variables, input, headers } = program.runner.taskInput(instance, task);
  return handler.run(input === undefined ? variables : input, {
    taskId: taskIdOf(instance.id, task.id),
    instanceId: instance.id,
    ticket: task.id,
    element: task.element,
    idempotencyKey: idempotencyKeyOf(instance.id, task.id),
    attempt: task.attempt,
    headers,
    ...(input !== undefined && { takesJson: true, ...(task.retries <= 1 && { isLast: true }) }),
  });
}

function factOf(
  task: TaskTicket,
  handler: TaskHandler,
  outcome: Exclude<TaskOutcome, { kind: "not-run" }>,
): TicketFact {
  if (outcome.kind === "completed") {
    const { kind: _, ...result } = outcome;
    return { kind: "task-completed", ticket: task.id, ...result };
  }
  const { kind: _, ...failure } = outcome;
  return failedAttempt(task, handler, failure);
}

/** The failure of an attempt, with the pause that its handler asks for before the next one. */
export function failedAttempt<F extends Readonly<{ message: string }>>(
  { id: ticket, attempt }: TaskTicket,
  handler: TaskHandler | undefined,
  failure: F,
) {
  const retryAfterMs = handler?.backoffMs?.(attempt);
  const paused = retryAfterMs === undefined ? {} : { retryAfterMs };
  return { kind: "task-failed", ticket, attempt, ...failure, ...paused } as const;
}
