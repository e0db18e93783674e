/** Tasks as workers and users see them: found by rows, completed by their ticket. */
import { DEFAULT_LOCK_SECONDS } from "../../definition/limits.ts";
import { checkedValue } from "../../definition/parsed.ts";
import { addDuration, parseDuration } from "../../definition/time/duration.ts";
import { formatInstant } from "../../definition/time/instant.ts";
import type { Fact } from "../../kernel/fact.ts";
import type { Instance, TaskTicket } from "../../kernel/instance.ts";
import type { Program } from "../../kernel/runner.ts";
import { isUserTask } from "../../kernel/user-task.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Item } from "../../ports/store.ts";
import { cursorInvalid } from "../../ports/store-rules.ts";
import type { IdempotencyKey, Listed, PageRequest } from "../../shapes/paging.ts";
import type {
  CompletionRequest,
  Heartbeat,
  HeartbeatRequest,
  TaskFailure,
  TaskFilter,
  TaskView,
} from "../../shapes/tasks.ts";
import { handleRequest, type InstanceRequest } from "../drive/instance-request.ts";
import { openTask, openTasks } from "../rows/open-tickets.ts";
import { type Offer, parseOffer, rowStateOf } from "../rows/task-row.ts";
import { offerRows } from "../rows/task-type.ts";
import { viewTask } from "../rows/view-task.ts";
import { defined } from "../storage/defined.ts";
import { instanceKey } from "../storage/keys.ts";
import { attemptName, compareTickets, isTicketId, parseTaskId } from "../storage/names.ts";
import { engineBusy } from "../storage/retrying.ts";
import { loadInstance } from "../storage/stored-instance.ts";
import { readable, readableOf } from "../storage/unreadable.ts";
import { checkCompletion } from "../user-tasks/check-completion.ts";
import {
  isAboutUserTasks,
  isWanted,
  listUserTasks,
  tasksOnPage,
} from "../user-tasks/list-user-tasks.ts";
import type { World } from "../world.ts";
import {
  demandAttempt,
  heldRow,
  lockKey,
  lockLost,
  lockRow,
  lockTokenOf,
  type TaskParts,
} from "./lock.ts";

/**
 * Open tasks: those of an instance, or those that wait for workers and users. Rows are only hints:
 * a row whose ticket is closed is removed and not shown.
 */
export async function listTasks(
  world: World,
  filter: TaskFilter,
  page: PageRequest,
): Promise<Listed<TaskView>> {
  if (filter.instanceId !== undefined) return tasksOfInstance(world, filter, page);
  if (isAboutUserTasks(filter)) return listUserTasks(world, filter, page);
  return filter.type === undefined ? listAll(world, page) : listOffered(world, filter, page);
}

/** What workers do comes first, then what only users do: two lists, one after the other. */
async function listAll(world: World, page: PageRequest): Promise<Listed<TaskView>> {
  const { limit, cursor } = page;
  const ofUsers = async (some: number, after: string): Promise<Listed<TaskView>> => {
    const from = { limit: some, ...(after !== "" && { cursor: after }) };
    const { items, nextCursor } = await listUserTasks(world, {}, from, isUserTask);
    return { items, ...(nextCursor !== undefined && { nextCursor: PEOPLE + nextCursor }) };
  };
  if (cursor?.startsWith(PEOPLE)) return ofUsers(limit, cursor.slice(PEOPLE.length));
  const offered = await listOffered(world, {}, page);
  if (offered.nextCursor !== undefined) return offered;
  const room = limit - offered.items.length;
  const { items, nextCursor } = await ofUsers(Math.max(1, room), "");
  if (room > 0) {
    return { items: [...offered.items, ...items], ...(nextCursor !== undefined && { nextCursor }) };
  }
  const isMore = items.length > 0 || nextCursor !== undefined;
  return { items: offered.items, ...(isMore && { nextCursor: PEOPLE }) };
}

/** Cursors of the second list begin so; those of the first are JSON. */
const PEOPLE = "people:";

const listOffered = (
  world: World,
  { type }: TaskFilter,
  page: PageRequest,
): Promise<Listed<TaskView>> =>
  tasksOnPage(
    page,
    (some) => offerRows(world, type, some),
    async (row) => {
      const [offer] = readableOf(world, [row], ({ body }) => parseOffer(body));
      if (offer === undefined) return undefined;
      const key = instanceKey(world.settings.tenant, offer.instanceId);
      return readable(world, key, () => viewOffered(world, row, offer));
    },
  );

/** The task that a row names; undefined: none, and a row that is dead goes. */
async function viewOffered(world: World, row: Item, { instanceId }: Offer) {
  const state = rowStateOf(world, row, await loadInstance(world, instanceId));
  if (state.kind === "dead") await world.store.tidy([row.key]);
  if (state.kind === "dead" || state.image === undefined) return undefined;
  return viewTask(world, state.image, state.task);
}

export async function completeTask(
  world: World,
  taskId: string,
  { variables: given, result, user, lockToken }: CompletionRequest = {},
  key?: IdempotencyKey,
): Promise<{ completed: true }> {
  const variables = given ?? {};
  await handleTaskRequest(world, taskId, {
    key,
    lockToken,
    body: ["complete", taskId, variables, ...(result === undefined ? [] : [result])],
    factFor: (task, instance, program) => {
      const by = user !== undefined && { user };
      checkCompletion(program, instance, task, { taskId, variables, ...by });
      if (result === undefined) return { kind: "task-completed", ticket: task.id, variables };
      if (given !== undefined) throw twoResults(taskId);
      if (program.definition.notation !== "code") throw noResult(taskId);
      return { kind: "task-completed", ticket: task.id, variables: {}, result };
    },
    nameFor: ({ ticket }) => ticket,
  });
  return { completed: true };
}

export async function failTask(
  world: World,
  taskId: string,
  { retryAfter, lockToken, ...failure }: TaskFailure,
  key?: IdempotencyKey,
): Promise<{ failed: true }> {
  const retryAfterMs = retryAfter === undefined ? undefined : millisecondsOf(world, retryAfter);
  await handleTaskRequest(world, taskId, {
    key,
    lockToken,
    body: ["fail", taskId, retryAfter, failure],
    factFor: ({ id, attempt }) => ({
      kind: "task-failed",
      ticket: id,
      attempt,
      ...failure,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    }),
    nameFor: ({ ticket, attempt }) => attemptName(ticket, attempt),
  });
  return { failed: true };
}

/** Keeps a worker's lock; a task that is over is called cancelled. */
export async function extendLock(
  world: World,
  taskId: string,
  { lockToken, lockSeconds = DEFAULT_LOCK_SECONDS }: HeartbeatRequest,
): Promise<Heartbeat> {
  const about = taskPartsOf(taskId);
  const image = await loadInstance(world, about.instanceId);
  if (image === undefined || image.instance.erased) throw noTask(taskId);
  const task = openTask(image.instance, about.ticket);
  if (task === undefined) {
    const key = lockKey(world, about, lockToken);
    if (key) await world.store.tidy([key]);
    return { cancelled: true };
  }
  const row = await heldRow(world, about, lockToken);
  await demandAttempt(world, row, task.attempt);
  const { worker = "" } = parseOffer(row.body);
  const { moved, lock } = await lockRow(world, row, { worker, lockSeconds });
  if (moved === "lost" || moved === "elsewhere") throw lockLost(about);
  if (moved === "busy") throw engineBusy(`task ${taskId}`);
  // In doubt: the old row is gone and the new one stands. Only this call, or a worker, removed it.
  return { lockToken: lockTokenOf(lock), lockedUntil: formatInstant(lock.until) };
}

/** A request about one task. */
export type TaskRequest<F extends Fact> = Readonly<{
  key: IdempotencyKey | undefined;
  body: InstanceRequest["body"];
  /** The fact for the task as it stands; undefined: it is already as it should be. */
  factFor: (task: TaskTicket, instance: Instance, program: Program) => F | undefined;
  nameFor: (fact: F) => string;
  lockToken?: string | undefined;
}>;

/** Takes the fact into the instance; throws where the task is not open, or its instance not there. */
export async function handleTaskRequest<F extends Fact>(
  world: World,
  taskId: string,
  { key, body, factFor, nameFor, lockToken }: TaskRequest<F>,
): Promise<void> {
  const about = taskPartsOf(taskId);
  let isAsItShould = false;
  const request: InstanceRequest = {
    instanceId: about.instanceId,
    ...(key !== undefined && { key }),
    body,
    factFor: (instance, program) => {
      const task = openTask(instance, about.ticket);
      const fact = task && factFor(task, instance, program);
      isAsItShould = task !== undefined && fact === undefined;
      return fact;
    },
    nameFor: (fact) => nameFor(fact as F),
    ...(lockToken !== undefined && { claim: (fact) => claimByLock(world, about, lockToken, fact) }),
  };
  try {
    const { kind } = await handleRequest(world, request);
    if (kind === "nothing" && !isAsItShould) throw noTask(taskId);
  } catch (cause) {
    if (cause instanceof EngineError && cause.code === "instance/not-found") throw noTask(taskId);
    throw cause;
  }
}

/**
 * A worker that names its lock must still have it, over or not; the row of the lock goes with the
 * task. What it says of an attempt that another worker has failed says nothing of the next one.
 */
async function claimByLock(world: World, about: TaskParts, lockToken: string, fact: Fact) {
  const row = await heldRow(world, about, lockToken);
  if (fact.kind === "task-failed") await demandAttempt(world, row, fact.attempt);
  return { ticket: about.ticket, key: row.key };
}

/** One open task, with the text of its form. */
export async function getTask(world: World, taskId: string): Promise<TaskView> {
  const { instanceId, ticket } = taskPartsOf(taskId);
  const image = await loadInstance(world, instanceId);
  const task = image && openTask(image.instance, ticket);
  if (!image || !task) throw noTask(taskId);
  const view = viewTask(world, image, task);
  const { formBody: body } = image.program.runner.taskInput(image.instance, task);
  return view.form && body !== undefined ? { ...view, form: { ...view.form, body } } : view;
}

async function tasksOfInstance(
  world: World,
  filter: TaskFilter,
  page: PageRequest,
): Promise<Listed<TaskView>> {
  const { cursor } = page;
  const image = await loadInstance(world, filter.instanceId ?? "");
  if (image === undefined) return { items: [] };
  if (cursor !== undefined && !isTicketId(cursor)) throw cursorInvalid(cursor);
  // The task that a cursor names may be gone by now: what comes behind it does not hang on it.
  const isAhead = ({ id }: TaskTicket) => cursor === undefined || compareTickets(id, cursor) > 0;
  const wanted = openTasks(image.instance.tickets)
    .filter((task) => isAhead(task) && isWanted(task, filter, world.clock.now()))
    .sort((a, b) => compareTickets(a.id, b.id));
  const read = async ({ limit }: PageRequest) => {
    const next = limit < wanted.length ? wanted[limit - 1]?.id : undefined;
    return { items: wanted.slice(0, limit), ...defined({ next }) };
  };
  return tasksOnPage(page, read, async (task) => viewTask(world, image, task));
}

function taskPartsOf(taskId: string): TaskParts {
  const parts = parseTaskId(taskId);
  if (parts === undefined) throw noTask(taskId);
  return parts;
}

function millisecondsOf(world: World, text: string): number {
  const now = world.clock.now();
  return Math.max(0, addDuration(now, checkedValue(parseDuration(text))) - now);
}

const noResult = (taskId: string): EngineError =>
  new EngineError("definition/notation-differs", {
    happened: "Only a task of a workflow in code has a result; this one sets variables",
    where: `task ${taskId}`,
    fix: "Send `variables` instead of `result`.",
  });

const twoResults = (taskId: string): EngineError =>
  new EngineError("definition/notation-differs", {
    happened: "The completion has both a result and variables",
    where: `task ${taskId}`,
    fix: "Send one of them: `result` to a workflow in code, `variables` otherwise.",
  });

const noTask = (taskId: string): EngineError =>
  new EngineError("task/not-found", { where: `task ${taskId}` });
