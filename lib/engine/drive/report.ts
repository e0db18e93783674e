/** Takes what came of a task into its instance, or parks it for others to take. */
import { MAX_HELD_PAUSE_MS, MAX_OPEN_TASKS_BEFORE_PARKING } from "../../definition/limits.ts";
import { batchOf, isOfCalls } from "../../kernel/batch.ts";
import { chanceOf, isFinal, paused } from "../../kernel/code/retry-table.ts";
import type { TicketFact } from "../../kernel/fact.ts";
import type { Instance, TaskTicket } from "../../kernel/instance.ts";
import { attemptAfter, retriesAfter } from "../../kernel/retry.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Invocation, TaskMessage, Verdict } from "../../ports/message.ts";
import { openTask, openWork } from "../rows/open-tickets.ts";
import { commitWithRetry } from "../step/commit-with-retry.ts";
import { taskMessage } from "../step/owed.ts";
import type { Plan } from "../step/plan.ts";
import { dropSentRecords, redeliver } from "../step/redelivery.ts";
import { ownerOf, parkWant, type Want } from "../step/take.ts";
import { attemptName } from "../storage/names.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { type Attempt, isUntouched } from "./hand-back.ts";

/** One invocation, and the name of the message that woke it. */
export type Drive = Readonly<{ world: World; trigger: string; invocation: Invocation }>;

/** Where a drive has got to: the task that it runs next. */
export type Position = Attempt &
  Readonly<{
    /** Outbox records that left since the last commit. */
    sent: ReadonlySet<string>;
    step: number;
  }>;

/** The step that was committed, from which the drive goes on; or the verdict with which it stops. */
export type Ran = Plan | Verdict;

export async function report(drive: Drive, position: Position, outcome: TicketFact): Promise<Ran> {
  const { world, trigger, invocation } = drive;
  const { image, task, sent, step } = position;
  const retry = nextAttemptOf(world, image.instance, task, outcome);
  if (retry) {
    await world.tasks.send(retry);
    return "release";
  }
  const fact = forGood(task, outcome);
  const parked = { name: step === 1 ? trigger : attemptName(task.id, task.attempt), fact };
  // A batch item is never alone, and a hand-back of its message need not ask whether it runs.
  const isItem = task.member !== undefined;
  if (isItem || openWork(world, image.instance) > MAX_OPEN_TASKS_BEFORE_PARKING) {
    return parkOutcome(drive, position, parked);
  }
  const result = await untilStored(world, outcomeOf(image, task.id), () =>
    commitWithRetry(world, image, {
      want: { name: trigger, fact },
      owner: ownerOf(invocation),
      sent,
      mine: (current) => isMine(current, position, invocation),
    }),
  );
  switch (result.kind) {
    case "settled":
      return result.plan;
    case "gone":
      return redeliver(world, result.image, { name: trigger, fact: fact.kind }, invocation);
    case "contended":
      return parkOutcome(drive, position, parked);
    case "overtaken":
      await parkOutcome(drive, { ...position, sent: new Set() }, parked);
      return leftToOwner(drive, position);
  }
}

/**
 * The first task is our trigger's own while its attempt is: once another attempt runs, or another
 * delivery has handed it back, our trigger may be gone. Later ones are ours only while the lease says so.
 */
export function isMine(current: Image, { task, step }: Position, { id }: Invocation): boolean {
  if (step === 1) return isUntouched(current, task);
  const open = openTask(current.instance, task.id);
  return open === undefined || open.lease?.owner === id;
}

export function leftToOwner({ world }: Drive, { image }: Position): Verdict {
  world.observe?.({ kind: "left-to-owner", instanceId: image.instance.id });
  return { keepForMs: 1_000 };
}

/** The step that takes the parked fact does not know what has left already: that is dropped here. */
async function parkOutcome(
  { world, invocation }: Drive,
  { image, sent }: Position,
  want: Want,
): Promise<Verdict> {
  await parkWant(world, image.instance, want);
  world.observe?.({ kind: "outcome-parked", instanceId: image.instance.id });
  return untilStored(world, outcomeOf(image, want.name), () =>
    dropSentRecords(world, image, sent, invocation.id),
  );
}

const outcomeOf = ({ instance }: Image, task: string): string =>
  `what came of task ${task} of instance ${instance.id}`;

/**
 * Holds on to what came of a task while the store cannot take it. With queues in memory a step that
 * fails would run the handler again, though this process knows its outcome: the write is repeated
 * instead. The handlers at work bound how many wait here, and no further ones begin meanwhile.
 */
async function untilStored<T>(world: World, about: string, write: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await write();
    } catch (error) {
      if (world.settings.host.queuesSurvive || !mayPass(error)) throw error;
      if (failures === 0) world.onTrouble?.(`${about} is held until it can be stored`, error);
      await world.clock.pause(Math.min(100 * 2 ** failures, MAX_HELD_PAUSE_MS));
    }
  }
}

const mayPass = (error: unknown): boolean => error instanceof EngineError && error.retryable;

// Attempts of batch items. They live in the messages that ask for them: after a failure that is
// followed by another attempt one message replaces the other, and the instance does not change. Only
// a final failure is a fact of the instance. When an attempt is due is a rule of `kernel/retry.ts`.

/** The task as its message asks for it: which attempt of a batch item it is, only the message knows. */
export function asAskedFor(task: TaskTicket, message: TaskMessage): TaskTicket {
  if (task.member === undefined) return task;
  const { attempt, retries = task.retries, notBefore } = message;
  return { ...task, attempt, retries, ...(notBefore !== undefined && { notBefore }) };
}

/** The message of the attempt that follows the failure of an item; undefined: it is final. */
export function nextAttemptOf(
  { clock }: Pick<World, "clock">,
  instance: Instance,
  task: TaskTicket,
  fact: TicketFact,
): TaskMessage | undefined {
  if (task.member === undefined || fact.kind !== "task-failed") return undefined;
  const family = batchOf(instance.tickets, task.id)?.batch;
  const { backoff, table } = family && !isOfCalls(family) ? family : {};
  if (isFinal(fact, table)) return undefined;
  const now = clock.now();
  const chance = chanceOf(instance.id, task);
  const failed = table ? paused(fact, { table, now, chance }) : fact;
  const next = attemptAfter(now, task, failed, backoff);
  if (!next.ok || next.value === undefined) return undefined;
  const { notBefore: _, ...kept } = task;
  return taskMessage(instance, { ...kept, ...next.value });
}

/**
 * The final failure of an item: it says how many attempts are left, which the instance cannot know.
 * That is none, unless its backoff cannot be read: then the instance finds the same, and says so.
 */
export const forGood = (task: TaskTicket, fact: TicketFact): TicketFact =>
  task.member !== undefined && fact.kind === "task-failed"
    ? { ...fact, retries: retriesAfter(task, fact) }
    : fact;
