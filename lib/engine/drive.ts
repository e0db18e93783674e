/**
 * Direct drive: whoever holds a task's outcome runs the step, and may run the next short task
 * right away, each under its own commit.
 *
 * 1. The trigger stays queued until everything that its steps owe has left.
 * 2. `by` is the trigger's name for every step of the invocation: it is the message that the
 *    queue will bring back.
 * 3. Only the invocation that consumed its own trigger's ticket goes on in place.
 * 4. When a conflict shows that another owner drives our next ticket, we park what we hold, stop,
 *    and leave the trigger to them.
 */
import {
  LEASE_RESERVE_MS,
  MAX_MS_IN_PLACE,
  MAX_OPEN_TASKS_BEFORE_PARKING,
  MAX_STEPS_IN_PLACE,
} from "../definition/limits.ts";
import type { Fact, TicketFact } from "../kernel/fact.ts";
import type { TaskTicket } from "../kernel/instance.ts";
import type { Invocation, TaskMessage, Verdict } from "../ports/message.ts";
import type { TaskHandler, TaskOutcome } from "../ports/tasks.ts";
import { afterCommit, send } from "./dispatch.ts";
import { attemptName, idempotencyKeyOf, taskIdOf } from "./names.ts";
import { openTask, openTasksHere, runsHere } from "./owed.ts";
import type { Plan } from "./plan.ts";
import { dropSentRecords, redeliver } from "./redelivery.ts";
import { settle } from "./settle.ts";
import type { Image } from "./stored-instance.ts";
import type { World } from "./world.ts";

/** Runs the task that the message names, then what follows from it. */
export async function drive(
  world: World,
  found: Image,
  message: TaskMessage,
  invocation: Invocation,
): Promise<Verdict> {
  const trigger = attemptName(message.ticket, message.attempt);
  const task = openTask(found.instance, message.ticket);
  if (task === undefined || task.attempt !== message.attempt) {
    return redeliver(world, found, trigger, invocation, "task");
  }
  const earlyMs = (task.notBefore ?? 0) - world.clock.now();
  if (earlyMs > 0) return { keepForMs: earlyMs };
  return driveFrom(world, { image: found, task, sent: new Set(), step: 1 }, trigger, invocation);
}

type Position = Readonly<{
  image: Image;
  task: TaskTicket;
  /** Outbox records that left since the last commit. */
  sent: ReadonlySet<string>;
  step: number;
}>;

async function driveFrom(
  world: World,
  start: Position,
  trigger: string,
  invocation: Invocation,
): Promise<Verdict> {
  const startedAt = world.clock.now();
  let position = start;
  for (;;) {
    const handler = world.tasks.handlerOf(position.task.type);
    // Its handler is gone since it was sent: it waits like every task that nobody here runs.
    if (handler === undefined) {
      await send(world, position.image.instance, { tickets: [position.task], outbox: [] });
      return "release";
    }
    const ran = await runTask(world, position, handler, trigger, invocation);
    if (ran.kind === "stopped") return ran.verdict;
    const left = MAX_MS_IN_PLACE - (world.clock.now() - startedAt);
    const next = nextInPlace(world, ran.plan, position.step, left, invocation);
    const sent = await afterCommit(world, ran.plan, next);
    if (next === undefined) return dropSentRecords(world, ran.image, sent, invocation.id);
    position = { image: ran.image, task: next, sent, step: position.step + 1 };
  }
}

type Ran = Readonly<
  { kind: "went-on"; image: Image; plan: Plan } | { kind: "stopped"; verdict: Verdict }
>;

async function runTask(
  world: World,
  position: Position,
  handler: TaskHandler,
  trigger: string,
  invocation: Invocation,
): Promise<Ran> {
  const claimed = handler.exclusive
    ? await claim(world, position, trigger, invocation)
    : { image: position.image, doubt: undefined };
  if (claimed === "stop") return stopped({ keepForMs: 0 });
  const { image } = claimed;
  const { task } = position;
  const fact = claimed.doubt ?? factOf(task, handler, await run(image, task, handler));
  const name = position.step === 1 ? trigger : attemptName(task.id, task.attempt);
  if (openTasksHere(world, image.instance) > MAX_OPEN_TASKS_BEFORE_PARKING) {
    return parkOutcome(world, image, name, fact, position.sent, invocation);
  }
  const settled = await settle(
    world,
    image,
    { name: trigger, fact },
    { own: invocation.id, until: invocation.until },
    { sent: position.sent, mine: (current) => isMine(current, position, invocation) },
  );
  switch (settled.kind) {
    case "settled":
      return { kind: "went-on", image: settled.image, plan: settled.plan };
    case "gone":
      return settled.image
        ? stopped(await redeliver(world, settled.image, trigger, invocation, fact.kind))
        : stopped("release");
    case "contended":
      return parkOutcome(world, image, name, fact, position.sent, invocation);
    case "overtaken":
      world.observe?.({ kind: "left-to-owner", instanceId: image.instance.id });
      await parkOutcome(world, image, name, fact, NONE, invocation);
      return stopped({ keepForMs: 1_000 });
  }
}

/**
 * The first task is our trigger's own while its attempt is: once another attempt runs, our trigger
 * may be gone. Later ones are ours only while the stamp says so.
 */
function isMine(current: Image, { task, step }: Position, { id }: Invocation): boolean {
  const open = openTask(current.instance, task.id);
  if (step === 1) return open === undefined || open.attempt === task.attempt;
  return open === undefined || open.stamp?.own === id;
}

/** Whoever takes the parked fact does not know what has left already: that is dropped here. */
async function parkOutcome(
  world: World,
  image: Image,
  name: string,
  fact: Fact,
  sent: ReadonlySet<string>,
  { id }: Invocation,
): Promise<Ran> {
  const { tenant, id: instanceId } = image.instance;
  await world.parking.park({ kind: "parked", tenant, instanceId, name, fact });
  world.observe?.({ kind: "outcome-parked", instanceId });
  return stopped(await dropSentRecords(world, image, sent, id));
}

const NONE: ReadonlySet<string> = new Set();

const stopped = (verdict: Verdict): Ran => ({ kind: "stopped", verdict });

/**
 * The one short bundled task that this step owes, if it may run in place: everything else has to
 * leave first, and the lease must outlast it.
 */
function nextInPlace(
  world: World,
  { fresh }: Plan,
  step: number,
  leftMs: number,
  { mayContinue, until }: Invocation,
): TaskTicket | undefined {
  if (!mayContinue || step >= MAX_STEPS_IN_PLACE || leftMs <= 0) return undefined;
  const tasks = fresh.tickets.filter((ticket) => runsHere(world, ticket));
  const [only, ...others] = tasks;
  if (only === undefined || others.length > 0) return undefined;
  const handler = world.tasks.handlerOf(only.type);
  const now = world.clock.now();
  if (handler === undefined || handler.isolate || (only.notBefore ?? 0) > now) return undefined;
  return now + handler.timeoutMs + LEASE_RESERVE_MS <= until ? only : undefined;
}

function run(image: Image, task: TaskTicket, handler: TaskHandler): Promise<TaskOutcome> {
  const { instance, program } = image;
  const { variables, headers } = program.runner.taskInput(instance, task);
  return handler.run(variables, {
    taskId: taskIdOf(instance.id, task.id),
    instanceId: instance.id,
    ticket: task.id,
    element: task.element,
    idempotencyKey: idempotencyKeyOf(instance.id, task.id),
    attempt: task.attempt,
    headers,
  });
}

function factOf(task: TaskTicket, handler: TaskHandler, outcome: TaskOutcome): TicketFact {
  if (outcome.kind === "completed") {
    return { kind: "task-completed", ticket: task.id, variables: outcome.variables };
  }
  const { kind: _, ...failure } = outcome;
  const retryAfterMs = handler.backoffMs?.(task.attempt);
  return {
    kind: "task-failed",
    ticket: task.id,
    attempt: task.attempt,
    ...failure,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** An exclusive task is claimed in the store before it runs; another's claim means that it may
 *  have run already, and only a person can tell. */
async function claim(
  world: World,
  position: Position,
  trigger: string,
  invocation: Invocation,
): Promise<{ image: Image; doubt: TicketFact | undefined } | "stop"> {
  const { image, task, sent } = position;
  if (task.claim !== undefined && task.claim !== invocation.id) {
    return { image, doubt: inDoubt(task) };
  }
  const settled = await settle(
    world,
    image,
    {
      name: trigger,
      fact: { kind: "task-claimed", ticket: task.id, attempt: task.attempt, claim: invocation.id },
    },
    { own: invocation.id, until: invocation.until },
    {
      sent,
      mine: (current) =>
        isMine(current, position, invocation) &&
        openTask(current.instance, task.id)?.claim === undefined,
    },
  );
  return settled.kind === "settled" ? { image: settled.image, doubt: undefined } : "stop";
}

/** The failure of an exclusive task that may have been done. */
export const inDoubt = (task: TaskTicket): TicketFact => ({
  kind: "task-failed",
  ticket: task.id,
  attempt: task.attempt,
  message:
    "The task is exclusive and was claimed by a run that never reported: it may have done its work. Look whether it did, then resolve this incident to run it again, or complete the task.",
  retries: 0,
});
