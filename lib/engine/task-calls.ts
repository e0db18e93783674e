/** Tasks as outsiders see them: found by rows, completed by their ticket. */
import { MAX_PAGE_BYTES } from "../definition/limits.ts";
import { addDuration, parseDuration } from "../definition/time/duration.ts";
import type { TaskTicket } from "../kernel/instance.ts";
import { EngineError } from "../ports/engine-error.ts";
import type { Item, Page } from "../ports/store.ts";
import { storeLimits } from "../ports/store-rules.ts";
import { serve } from "./door.ts";
import type {
  Engine,
  IdempotencyKey,
  Listed,
  PageRequest,
  TaskFailure,
  TaskFilter,
  TaskView,
} from "./engine.ts";
import { parseBody } from "./formats.ts";
import { isPeopleKey, offersPk, offersView } from "./keys.ts";
import { weightOf } from "./listing.ts";
import { attemptName, parseTaskId } from "./names.ts";
import { isTask, openTask } from "./owed.ts";
import { checkCompletion } from "./people/check-completion.ts";
import { isAboutPeople, isWanted, listPeople } from "./people/list-people.ts";
import { tidyRow } from "./people/rows.ts";
import { readMany } from "./read-many.ts";
import { checkPage, checkVariables } from "./request-rules.ts";
import { loadInstance } from "./stored-instance.ts";
import { viewTask } from "./views.ts";
import type { World } from "./world.ts";

/**
 * Open tasks: those of an instance, or those that wait for somebody outside. Rows are only hints:
 * a row whose ticket is closed is tidied away and not shown.
 */
export async function listTasks(
  world: World,
  filter: TaskFilter,
  page: PageRequest,
): Promise<Listed<TaskView>> {
  checkPage(page);
  if (filter.instanceId !== undefined) return tasksOfInstance(world, filter, page);
  if (isAboutPeople(filter)) return listPeople(world, filter, page);
  const rows = await offerRows(world, filter.type, page);
  const items: TaskView[] = [];
  let bytes = 0;
  for (const [n, row] of rows.items.entries()) {
    const { instanceId, ticket } = parseOffer(row.body);
    const image = await loadInstance(world, instanceId);
    const task = image && openTask(image.instance, ticket);
    if (image && task) {
      const view = viewTask(world, image, task);
      bytes += weightOf(view);
      // Too heavy for one answer: a page that ends before this one has a cursor that leads to it.
      if (n > 0 && bytes > MAX_PAGE_BYTES) return listTasks(world, filter, { ...page, limit: n });
      items.push(view);
    } else if (isPeopleKey(row.key)) await tidyRow(world, row, image?.instance);
    else await world.store.tidy([row.key]);
  }
  return { items, ...(rows.next !== undefined && { nextCursor: rows.next }) };
}

export async function completeTask(
  world: World,
  taskId: string,
  { variables = {}, user }: Parameters<Engine["completeTask"]>[1] & {},
  key?: IdempotencyKey,
): Promise<{ completed: true }> {
  checkVariables(variables);
  const by = user !== undefined && { user };
  const { instanceId, ticket } = taskPartsOf(taskId);
  const served = await serveTask(world, taskId, {
    instanceId,
    ...(key !== undefined && { key }),
    body: ["complete", taskId, variables],
    factFor: (instance, program) => {
      const task = openTask(instance, ticket);
      if (task) checkCompletion(program, instance, task, { taskId, variables, ...by });
      return task && { kind: "task-completed", ticket, variables };
    },
    nameFor: () => ticket,
  });
  if (served.kind === "nothing") throw noTask(taskId);
  return { completed: true };
}

export async function failTask(
  world: World,
  taskId: string,
  { retryAfter, ...failure }: TaskFailure,
  key?: IdempotencyKey,
): Promise<{ failed: true }> {
  checkVariables(failure.variables ?? {});
  const { instanceId, ticket } = taskPartsOf(taskId);
  const retryAfterMs = retryAfter === undefined ? undefined : millisecondsOf(world, retryAfter);
  const served = await serveTask(world, taskId, {
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
  });
  if (served.kind === "nothing") throw noTask(taskId);
  return { failed: true };
}

/** A task of an instance that is not there is a task that is not there. */
export async function serveTask(world: World, taskId: string, errand: Parameters<typeof serve>[1]) {
  try {
    return await serve(world, errand);
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

/** The rows of offered tasks, oldest first; with a type, those of its partition. */
export async function offerRows(
  world: World,
  type: string | undefined,
  { limit, cursor }: PageRequest,
): Promise<Page<Item>> {
  const { tenant } = world.settings;
  const range = { limit, ...(cursor !== undefined && { after: cursor }) };
  if (type !== undefined) return world.store.scan(offersPk(tenant, type), range);
  const keys = await world.store.list(offersView(tenant), {
    ...range,
    limit: Math.min(limit, storeLimits.keysPerCall),
  });
  const rows = await readMany(world.store, keys.items);
  return {
    items: rows.flatMap((row) => (row ? [row] : [])),
    ...(keys.next !== undefined && { next: keys.next }),
  };
}

export function parseOffer(body: Uint8Array): { instanceId: string; ticket: string } {
  const { i, k } = parseBody("offer", body) as { i: string; k: string };
  return { instanceId: i, ticket: k };
}

async function tasksOfInstance(
  world: World,
  filter: TaskFilter,
  { limit, cursor }: PageRequest,
): Promise<Listed<TaskView>> {
  const image = await loadInstance(world, filter.instanceId ?? "");
  if (image === undefined) return { items: [] };
  const open = image.instance.tickets.filter(isTask);
  const wanted = open.filter((task) => isWanted(task, filter, world.clock.now()));
  const from = wanted.findIndex((task) => task.id === cursor) + 1;
  const shown = wanted.slice(from, from + limit);
  const items = shown.map((task: TaskTicket) => viewTask(world, image, task));
  const last = shown.at(-1);
  return { items, ...(from + limit < wanted.length && last && { nextCursor: last.id }) };
}

export function taskPartsOf(taskId: string): { instanceId: string; ticket: string } {
  const parts = parseTaskId(taskId);
  if (parts === undefined) throw noTask(taskId);
  return parts;
}

function millisecondsOf(world: World, text: string): number {
  const duration = parseDuration(text);
  if (duration.ok) {
    const now = world.clock.now();
    return Math.max(0, addDuration(now, duration.value) - now);
  }
  throw new EngineError("request/invalid", {
    happened: "retryAfter is not a duration",
    where: "retryAfter",
    fix: duration.hint,
    retryable: false,
    details: [{ path: "retryAfter", message: duration.problem }],
  });
}

export function noTask(taskId: string): EngineError {
  return new EngineError("task/not-found", {
    happened: "There is no such open task",
    where: `task ${taskId}`,
    fix: "It was completed, failed, interrupted or never existed; list open tasks with GET /v1/tasks.",
    retryable: false,
  });
}
