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
} from "../../definition/limits.ts";
import { instantFrom } from "../../definition/time/instant.ts";
import type { Fact, TicketFact } from "../../kernel/fact.ts";
import type { TaskTicket } from "../../kernel/instance.ts";
import type { Invocation, TaskMessage, Verdict } from "../../ports/message.ts";
import type { WatchedStep } from "../../ports/step-watch.ts";
import type { TaskHandler, TaskOutcome } from "../../ports/tasks.ts";
import { offerAnew } from "../rows/offer.ts";
import { openTask, openWork, runsHere } from "../rows/open-tickets.ts";
import { commitWithRetry } from "../step/commit-with-retry.ts";
import { afterCommit, send } from "../step/dispatch.ts";
import { diedWith, taskStepName } from "../step/guarded.ts";
import type { Plan } from "../step/plan.ts";
import { dropSentRecords, redeliver } from "../step/redelivery.ts";
import { taskMessage } from "../step/task-message.ts";
import { attemptName, idempotencyKeyOf, taskIdOf } from "../storage/names.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { asAskedFor, forGood, nextAttemptOf } from "./attempts.ts";
import { type Claimed, claim, unclaim } from "./claim.ts";
import { claimItem, unclaimItem } from "./claim-item.ts";
import { hasLost, loadOrCreate } from "./creation.ts";
import { handBack, isUntouched, isVoid } from "./hand-back.ts";
import { setTaskAside } from "./set-task-aside.ts";
import { untilStored } from "./until-stored.ts";

/** A task message; it may have to create its instance first. */
export async function driveTask(
  world: World,
  message: TaskMessage,
  invocation: Invocation,
): Promise<Verdict> {
  const image = await loadOrCreate(world, message.instanceId, message.start);
  if (image === undefined || hasLost(image.instance, message.start)) return "release";
  return drive(world, image, message, invocation);
}

/** Runs the task that the message names, then what follows from it. */
async function drive(
  world: World,
  found: Image,
  message: TaskMessage,
  invocation: Invocation,
): Promise<Verdict> {
  const trigger = attemptName(message.ticket, message.attempt);
  const open = openTask(found.instance, message.ticket);
  const task = open && asAskedFor(open, message);
  if (task === undefined || task.attempt !== message.attempt) {
    return redeliver(world, found, trigger, invocation, "task");
  }
  if (isVoid(task, message)) {
    await offerAnew(world, found.instance, task);
    return "release";
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
    if (handler === undefined) return handBack(world, position.image, position.task, invocation);
    // Its timeout has grown, and it belongs into another queue.
    if (isTooLong(world, position, handler, invocation)) {
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

/** Where queues last, an invocation that ends before the task does is killed, and so is the next. */
const isTooLong = (
  { settings, clock }: World,
  { step }: Position,
  { timeoutMs }: TaskHandler,
  { until }: Invocation,
): boolean => step === 1 && settings.host.queuesSurvive && clock.now() + timeoutMs > until;

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
  const watched = world.watch?.begin(stepOf(position));
  if (watched?.kind === "later") {
    return leaveToQueue(world, position, watched.forMs, invocation);
  }
  if (watched?.kind === "poisoned") {
    const aside = diedWith(watched.deaths);
    return stopped(await setTaskAside({ ...world, aside }, position, invocation));
  }
  try {
    return await runWatched(world, position, handler, trigger, invocation);
  } finally {
    watched?.end();
  }
}

const stepOf = ({ image, task }: Position): WatchedStep => ({
  instanceId: image.instance.id,
  name: taskStepName(task),
  isTask: true,
});

async function runWatched(
  world: World,
  position: Position,
  handler: TaskHandler,
  trigger: string,
  invocation: Invocation,
): Promise<Ran> {
  const { task, sent } = position;
  const mine = (current: Image) => isMine(current, position, invocation);
  const claimed: Claimed = handler.exclusive
    ? await claimOne(world, position.image, { task, trigger, invocation, besides: { sent }, mine })
    : { kind: "claimed", image: position.image };
  switch (claimed.kind) {
    case "claimed":
      return runClaimed(world, { ...position, image: claimed.image }, handler, trigger, invocation);
    case "in-doubt":
      return report(world, position, claimed.fact, trigger, invocation);
    case "held":
      return stopped({ keepForMs: claimed.forMs });
    case "gone":
      return claimed.image
        ? stopped(await redeliver(world, claimed.image, trigger, invocation, "task"))
        : stopped("release");
    case "contended":
      return leaveToQueue(world, position, CONTENDED_MS, invocation);
    case "overtaken":
      world.observe?.({ kind: "left-to-owner", instanceId: position.image.instance.id });
      return stopped(OVERTAKEN);
  }
}

const claimOne = (
  world: World,
  image: Image,
  how: Parameters<typeof claim>[2],
): Promise<Claimed> =>
  how.task.member === undefined
    ? claim(world, image, how)
    : claimItem(world, image, how.task, how.invocation);

const CONTENDED_MS = 100;
const OVERTAKEN: Verdict = { keepForMs: 1_000 };

async function runClaimed(
  world: World,
  position: Position,
  handler: TaskHandler,
  trigger: string,
  invocation: Invocation,
): Promise<Ran> {
  const { image, task } = position;
  const outcome = await run(image, task, handler);
  if (outcome.kind !== "not-run") {
    return report(world, position, factOf(task, handler, outcome), trigger, invocation);
  }
  const given =
    task.member === undefined
      ? await unclaim(world, image, task.id, invocation.id)
      : await unclaimItem(world, image, task);
  return leaveToQueue(world, { ...position, image: given }, outcome.retryAfterMs, invocation);
}

/** Nothing was run: the task's own message comes back later. One that runs in place has none yet. */
async function leaveToQueue(
  world: World,
  { image, task, sent, step }: Position,
  afterMs: number,
  { id }: Invocation,
): Promise<Ran> {
  if (step === 1) return stopped({ keepForMs: afterMs });
  const notBefore = instantFrom(world.clock.now() + afterMs);
  await world.tasks.send({ ...taskMessage(image.instance, task), notBefore });
  return stopped(await dropSentRecords(world, image, sent, id));
}

/** Takes what came of a task into its instance. */
async function report(
  world: World,
  position: Position,
  outcome: TicketFact,
  trigger: string,
  invocation: Invocation,
): Promise<Ran> {
  const { image, task } = position;
  const again = nextAttemptOf(world, image.instance, task, outcome);
  if (again) {
    await world.tasks.send(again);
    return stopped("release");
  }
  const fact = forGood(task, outcome);
  const name = position.step === 1 ? trigger : attemptName(task.id, task.attempt);
  // One of many is never alone; and whoever hands its message back need not ask who runs it.
  const isOfMany = task.member !== undefined;
  if (isOfMany || openWork(world, image.instance) > MAX_OPEN_TASKS_BEFORE_PARKING) {
    return parkOutcome(world, image, name, fact, position.sent, invocation);
  }
  const owner = { own: invocation.id, until: invocation.until };
  const mine = (current: Image) => isMine(current, position, invocation);
  const settled = await untilStored(world, outcomeOf(image, task.id), () =>
    commitWithRetry(world, image, { name: trigger, fact }, owner, { sent: position.sent, mine }),
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
      return stopped(OVERTAKEN);
  }
}

/**
 * The first task is our trigger's own while its attempt is: once another attempt runs, or another
 * delivery has handed it back, our trigger may be gone. Later ones are ours only while the stamp says so.
 */
function isMine(current: Image, { task, step }: Position, { id }: Invocation): boolean {
  if (step === 1) return isUntouched(current, task);
  const open = openTask(current.instance, task.id);
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
  return untilStored(world, outcomeOf(image, name), async () =>
    stopped(await dropSentRecords(world, image, sent, id)),
  );
}

const outcomeOf = ({ instance }: Image, task: string): string =>
  `what came of task ${task} of instance ${instance.id}`;

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

function factOf(
  task: TaskTicket,
  handler: TaskHandler,
  outcome: Exclude<TaskOutcome, { kind: "not-run" }>,
): TicketFact {
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
