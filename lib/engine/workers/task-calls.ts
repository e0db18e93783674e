/** Tasks as outsiders see them: found by rows, completed by their ticket. */
import { MAX_PAGE_BYTES } from "../../definition/limits.ts";
import { checkedValue } from "../../definition/parsed.ts";
import { addDuration, parseDuration } from "../../definition/time/duration.ts";
import type { TaskTicket } from "../../kernel/instance.ts";
import { isUserTask } from "../../kernel/user-task.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Item } from "../../ports/store.ts";
import { cursorInvalid } from "../../ports/store-rules.ts";
import { handleRequest, type InstanceRequest } from "../drive/instance-request.ts";

import { weightOf } from "../instances/listing.ts";
import { openTask, openTasks } from "../rows/open-tickets.ts";
import { type Offer, parseOffer, rowStateOf } from "../rows/task-row.ts";
import { offerRows } from "../rows/task-rows.ts";
import { viewTask } from "../rows/view-task.ts";
import type { IdempotencyKey, Listed, PageRequest } from "../shapes/paging.ts";
import type {
  CompletionRequest,
  Heartbeat,
  HeartbeatRequest,
  TaskFailure,
  TaskFilter,
  TaskView,
} from "../shapes/tasks.ts";
import { instanceKey } from "../storage/keys.ts";
import { attemptName, parseTaskId } from "../storage/names.ts";
import { loadInstance } from "../storage/stored-instance.ts";
import { compareTickets, isTicketId } from "../storage/ticket-order.ts";
import { readable, readableOf } from "../storage/unreadable.ts";
import { checkCompletion } from "../user-tasks/check-completion.ts";
import { isAboutUserTasks, isWanted, listUserTasks } from "../user-tasks/list-user-tasks.ts";
import type { World } from "../world.ts";
import { demandAttempt, heartbeat, heldRow } from "./lock.ts";

/**
 * Open tasks: those of an instance, or those that wait for somebody outside. Rows are only hints:
 * a row whose ticket is closed is tidied away and not shown.
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

/** What workers do comes first, then what people alone do: two lists, one after the other. */
async function listAll(world: World, page: PageRequest): Promise<Listed<TaskView>> {
  const { limit, cursor } = page;
  const people = async (some: number, after?: string) => {
    const from = after === undefined || after === "" ? {} : { cursor: after };
    const found = await listUserTasks(world, {}, { limit: some, ...from }, isUserTask);
    const { items, nextCursor } = found;
    return { items, ...(nextCursor !== undefined && { nextCursor: PEOPLE + nextCursor }) };
  };
  if (cursor?.startsWith(PEOPLE)) return people(limit, cursor.slice(PEOPLE.length));
  const offered = await listOffered(world, {}, page);
  if (offered.nextCursor !== undefined) return offered;
  const room = limit - offered.items.length;
  const { items, nextCursor } = await people(Math.max(1, room));
  if (room > 0) {
    return { items: [...offered.items, ...items], ...(nextCursor !== undefined && { nextCursor }) };
  }
  const isMore = items.length > 0 || nextCursor !== undefined;
  return { items: offered.items, ...(isMore && { nextCursor: PEOPLE }) };
}

/** Cursors of the second list begin so; those of the first are JSON. */
const PEOPLE = "people:";

async function listOffered(
  world: World,
  filter: TaskFilter,
  page: PageRequest,
): Promise<Listed<TaskView>> {
  const rows = await offerRows(world, filter.type, page);
  const items: TaskView[] = [];
  const shown = new Set<string>();
  let bytes = 0;
  for (const [n, row] of rows.items.entries()) {
    const [offer] = readableOf(world, [row], ({ body }) => parseOffer(body));
    if (offer === undefined) continue;
    const key = instanceKey(world.settings.tenant, offer.instanceId);
    const view = await readable(world, key, () => viewOffered(world, row, offer));
    if (view === undefined || view === "unreadable" || shown.has(view.taskId)) continue;
    bytes += weightOf(view);
    // Too heavy for one answer: a page that ends before this one has a cursor that leads to it.
    if (n > 0 && bytes > MAX_PAGE_BYTES) return listOffered(world, filter, { ...page, limit: n });
    items.push(view);
    shown.add(view.taskId);
  }
  return { items, ...(rows.next !== undefined && { nextCursor: rows.next }) };
}

/** The task that a row leads to; undefined: none, and a row that is dead goes. */
async function viewOffered(
  world: World,
  row: Item,
  { instanceId }: Offer,
): Promise<TaskView | undefined> {
  const image = await loadInstance(world, instanceId);
  const worth = rowStateOf(world, row, image);
  if (worth.kind === "dead") await world.store.tidy([row.key]);
  if (worth.kind === "dead" || worth.image === undefined || worth.task === undefined) return;
  return viewTask(world, worth.image, worth.task);
}

export async function completeTask(
  world: World,
  taskId: string,
  { variables = {}, user, lockToken }: CompletionRequest,
  key?: IdempotencyKey,
): Promise<{ completed: true }> {
  const by = user !== undefined && { user };
  const { instanceId, ticket } = taskPartsOf(taskId);
  const served = await handleTaskRequest(world, taskId, {
    instanceId,
    ...(key !== undefined && { key }),
    body: ["complete", taskId, variables],
    factFor: (instance, program) => {
      const task = openTask(instance, ticket);
      if (task) checkCompletion(program, instance, task, { taskId, variables, ...by });
      return task && { kind: "task-completed", ticket, variables };
    },
    nameFor: () => ticket,
    ...heldBy(world, { instanceId, ticket }, lockToken),
  });
  if (served.kind === "nothing") throw noTask(taskId);
  return { completed: true };
}

export async function failTask(
  world: World,
  taskId: string,
  { retryAfter, lockToken, ...failure }: TaskFailure,
  key?: IdempotencyKey,
): Promise<{ failed: true }> {
  const { instanceId, ticket } = taskPartsOf(taskId);
  const retryAfterMs = retryAfter === undefined ? undefined : millisecondsOf(world, retryAfter);
  const served = await handleTaskRequest(world, taskId, {
    instanceId,
    ...(key !== undefined && { key }),
    body: ["fail", taskId, retryAfter, failure],
    factFor: (instance) => {
      const task = openTask(instance, ticket);
      return (
        task && {
          kind: "task-failed",
          ticket,
          attempt: task.attempt,
          ...failure,
          ...(retryAfterMs !== undefined && { retryAfterMs }),
        }
      );
    },
    nameFor: (fact) => ("attempt" in fact ? attemptName(ticket, fact.attempt) : ticket),
    ...heldBy(world, { instanceId, ticket }, lockToken),
  });
  if (served.kind === "nothing") throw noTask(taskId);
  return { failed: true };
}

/** Keeps a worker's lock; a task that nobody needs any more is called cancelled. */
export async function extendLock(
  world: World,
  taskId: string,
  request: HeartbeatRequest,
): Promise<Heartbeat> {
  const kept = await heartbeat(world, { ...taskPartsOf(taskId), taskId }, request);
  if (kept === undefined) throw noTask(taskId);
  return kept;
}

/**
 * Who names his lock must still have it, over or not; the row that it was goes with the task. What
 * he says of an attempt that somebody else has failed says nothing of the next one.
 */
function heldBy(
  world: World,
  about: Readonly<{ instanceId: string; ticket: string }>,
  lockToken: string | undefined,
): Pick<InstanceRequest, "claim"> {
  if (lockToken === undefined) return {};
  return {
    claim: async (fact) => {
      const row = await heldRow(world, about, lockToken);
      if (fact.kind === "task-failed") await demandAttempt(world, row, fact.attempt);
      return { ticket: about.ticket, key: row.key };
    },
  };
}

/** A task of an instance that is not there is a task that is not there. */
export async function handleTaskRequest(
  world: World,
  taskId: string,
  errand: Parameters<typeof handleRequest>[1],
) {
  try {
    return await handleRequest(world, errand);
  } catch (cause) {
    if (cause instanceof EngineError && cause.code === "instance/not-found") throw noTask(taskId);
    throw cause;
  }
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
  { limit, cursor }: PageRequest,
): Promise<Listed<TaskView>> {
  const image = await loadInstance(world, filter.instanceId ?? "");
  if (image === undefined) return { items: [] };
  if (cursor !== undefined && !isTicketId(cursor)) throw cursorInvalid(cursor);
  // The task that a cursor names may be gone by now: what comes behind it does not hang on it.
  const isAhead = ({ id }: TaskTicket) => cursor === undefined || compareTickets(id, cursor) > 0;
  const wanted = openTasks(image.instance.tickets)
    .filter((task) => isAhead(task) && isWanted(task, filter, world.clock.now()))
    .sort((a, b) => compareTickets(a.id, b.id));
  const items: TaskView[] = [];
  let bytes = 0;
  for (const task of wanted.slice(0, limit)) {
    const view = viewTask(world, image, task);
    bytes += weightOf(view);
    if (items.length > 0 && bytes > MAX_PAGE_BYTES) break;
    items.push(view);
  }
  const last = wanted[items.length - 1];
  return { items, ...(items.length < wanted.length && last && { nextCursor: last.id }) };
}

export function taskPartsOf(taskId: string): { instanceId: string; ticket: string } {
  const parts = parseTaskId(taskId);
  if (parts === undefined) throw noTask(taskId);
  return parts;
}

function millisecondsOf(world: World, text: string): number {
  const now = world.clock.now();
  return Math.max(0, addDuration(now, checkedValue(parseDuration(text))) - now);
}

export function noTask(taskId: string): EngineError {
  return new EngineError("task/not-found", {
    happened: "There is no such open task",
    where: `task ${taskId}`,
    fix: "It was completed, failed, interrupted or never existed; list open tasks with GET /v1/tasks.",
    retryable: false,
  });
}
