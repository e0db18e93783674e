/** What workers and users see of a task. */
import type { Json } from "../../definition/json.ts";
import { formatInstant } from "../../definition/time/instant.ts";
import { DEFAULT_PRIORITY } from "../../definition/user-task.ts";
import type { TaskTicket } from "../../kernel/instance.ts";
import type { TaskInput } from "../../kernel/runner.ts";
import type { WaitView } from "../../shapes/instances.ts";
import type { PersonView, TaskView } from "../../shapes/tasks.ts";
import { idempotencyKeyOf, taskIdOf } from "../storage/names.ts";
import type { Image } from "../storage/stored-instance.ts";
import { sound } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { runsHere } from "./open-tickets.ts";

/** What those who may do a task see of it. */
export function viewTask(world: World, { instance, program }: Image, task: TaskTicket): TaskView {
  const where = `instance ${instance.id}`;
  const input = sound(where, () => program.runner.taskInput(instance, task));
  const { variables, headers } = input;
  const { definition } = instance;
  return {
    taskId: taskIdOf(instance.id, task.id),
    type: task.type,
    instanceId: instance.id,
    element: task.element,
    definition: { id: definition.id, version: definition.version },
    variables,
    headers,
    attempt: task.attempt,
    retries: task.retries,
    idempotencyKey: idempotencyKeyOf(instance.id, task.id),
    createdAt: formatInstant(task.since),
    runsHere: runsHere(world, task),
    ...viewWork(task, input),
  };
}

/** Who has it, who may have it, until when; nothing for other tasks. */
export function viewPerson({ person }: TaskTicket): PersonView | undefined {
  if (person === undefined) return undefined;
  const { assignee, users = [], groups = [], dueAt, followUpAt, priority } = person;
  return {
    state: assignee === undefined ? "created" : "claimed",
    ...(assignee !== undefined && { assignee }),
    candidateUsers: users,
    candidateGroups: groups,
    ...(dueAt !== undefined && { dueDate: formatInstant(dueAt) }),
    ...(followUpAt !== undefined && { followUpDate: formatInstant(followUpAt) }),
    priority: priority ?? DEFAULT_PRIORITY,
  };
}

/** The same with what the definition adds: what it takes to complete it. */
function viewWork(
  task: TaskTicket,
  { needs = [], form }: TaskInput,
): Partial<PersonView> & Pick<TaskView, "requiredOutputs" | "form"> {
  const person = viewPerson(task);
  return person ? { ...person, requiredOutputs: needs, ...(form && { form }) } : {};
}

/** The calls that move it: a person claims it, or completes it with what it needs. */
export function callsFor(
  task: TaskTicket,
  taskId: string,
  { needs = [] }: Pick<TaskInput, "needs">,
): Pick<WaitView, "claimWith" | "wakeWith"> {
  const { users: [user = "your-name"] = [], assignee } = task.person ?? {};
  const isFree = task.person !== undefined && assignee === undefined;
  const variables: Json = Object.fromEntries(needs.map((name) => [name, null]));
  return {
    ...(isFree && { claimWith: { call: "claimTask", taskId, body: { user } } }),
    wakeWith: { call: "completeTask", taskId, body: { variables } },
  };
}
